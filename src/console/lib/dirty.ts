/** What somebody has typed and not sent yet: asked about before it is lost. */
const held = new Set<symbol>()

/** All that does. */
export const dirtyNow = (): ReadonlySet<symbol> => new Set(held)

/** Whether anything on the page does. @param but besides these */
export const isDirty = (but?: ReadonlySet<symbol>): boolean => [...held].some((one) => !but?.has(one))

/** It is to be lost: somebody was asked. */
export const forgetDirty = (): void => held.clear()

/** Says whether something here waits to be sent. */
export function holdDirty(name: symbol, dirty: boolean): void {
  if (dirty) held.add(name)
  else held.delete(name)
}

/** Before the browser closes or loads anew. */
export function watchLeaving(): void {
  addEventListener('beforeunload', (event) => {
    if (isDirty()) event.preventDefault()
  })
}
