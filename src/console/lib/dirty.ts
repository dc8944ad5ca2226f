/** What somebody has typed and not sent yet: asked about before it is lost. */
import { signal } from '@preact/signals'

const held = signal<ReadonlySet<symbol>>(new Set())

/** All that does. */
export const dirtyNow = (): ReadonlySet<symbol> => held.peek()

const holdsAny = (of: ReadonlySet<symbol>, but?: ReadonlySet<symbol>) => [...of].some((one) => !but?.has(one))
/** Whether anything on the page does. @param but besides these */
export const isDirty = (but?: ReadonlySet<symbol>): boolean => holdsAny(held.peek(), but)

/** The same for an effect, which is told when that is another. */
export const isDirtyNow = (but?: ReadonlySet<symbol>): boolean => holdsAny(held.value, but)

/** It is to be lost: somebody was asked. */
export function forgetDirty(): void {
  held.value = new Set()
}

/** Says whether something here waits to be sent. */
export function holdDirty(name: symbol, dirty: boolean): void {
  const others = [...held.peek()].filter((one) => one !== name)
  if (dirty !== held.peek().has(name)) held.value = new Set(dirty ? [...others, name] : others)
}

/** Before the browser closes or loads anew. */
export function watchLeaving(): void {
  addEventListener('beforeunload', (event) => {
    if (isDirty()) event.preventDefault()
  })
}
