/** What would be lost: what somebody has typed and not sent yet, what is shown once and never again, or files that are on their way. */
export type DirtyKind = 'typed' | 'shown once' | 'on its way'
const sources = new Map<symbol, DirtyKind>()

/** All that would be now. */
export const dirtySources = (): ReadonlySet<symbol> => new Set(sources.keys())

/** Whether anything on the page would be. @param but besides these @param what only what is of that kind */
export const isDirty = (but?: ReadonlySet<symbol>, what?: DirtyKind): boolean =>
  [...sources].some(([one, kind]) => !but?.has(one) && (what === undefined || kind === what))

/** It is to be lost: somebody was asked. */
export const clearDirty = (): void => sources.clear()

/** Says whether something here would be lost: one is asked before it is. */
export function setDirty(name: symbol, dirty: boolean, what: DirtyKind = 'typed'): void {
  if (dirty) sources.set(name, what)
  else sources.delete(name)
}

/** Before the browser closes or loads anew. */
export function warnBeforeUnload(): void {
  addEventListener('beforeunload', (event) => {
    if (isDirty()) event.preventDefault()
  })
}
