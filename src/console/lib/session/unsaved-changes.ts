/** What would be lost: what somebody has typed and not sent yet, what is shown once and never again, or files that are on their way. */
export type Losable = 'typed' | 'shown once' | 'on its way'
const held = new Map<symbol, Losable>()

/** All that would be now. */
export const dirtyNow = (): ReadonlySet<symbol> => new Set(held.keys())

/** Whether anything on the page would be. @param but besides these @param what only what is of that kind */
export const isDirty = (but?: ReadonlySet<symbol>, what?: Losable): boolean =>
  [...held].some(([one, kind]) => !but?.has(one) && (what === undefined || kind === what))

/** It is to be lost: somebody was asked. */
export const forgetDirty = (): void => held.clear()

/** Says whether something here would be lost: one is asked before it is. */
export function holdDirty(name: symbol, dirty: boolean, what: Losable = 'typed'): void {
  if (dirty) held.set(name, what)
  else held.delete(name)
}

/** Before the browser closes or loads anew. */
export function watchLeaving(): void {
  addEventListener('beforeunload', (event) => {
    if (isDirty()) event.preventDefault()
  })
}
