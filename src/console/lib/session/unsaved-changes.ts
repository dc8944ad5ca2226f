/** Kinds of content that leaving the page would lose: unsaved input, secrets that are shown once, and uploads. */
export type DirtyKind = 'typed' | 'shown once' | 'on its way'
const sources = new Map<symbol, DirtyKind>()

export const dirtySources = (): ReadonlySet<symbol> => new Set(sources.keys())

/**
 * Returns whether leaving would lose something.
 * @param but sources to ignore
 * @param what only this kind
 */
export const isDirty = (but?: ReadonlySet<symbol>, what?: DirtyKind): boolean =>
  [...sources].some(([one, kind]) => !but?.has(one) && (what === undefined || kind === what))

/** Forgets everything, after the person agreed to lose it. */
export const clearDirty = (): void => sources.clear()

/** Reports whether a source has unsaved content. */
export function setDirty(name: symbol, dirty: boolean, what: DirtyKind = 'typed'): void {
  if (dirty) sources.set(name, what)
  else sources.delete(name)
}

export function warnBeforeUnload(): void {
  addEventListener('beforeunload', (event) => {
    if (isDirty()) event.preventDefault()
  })
}
