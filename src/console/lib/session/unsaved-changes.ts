/** Kinds of content that leaving the page would lose: unsaved input, secrets that are shown once, and uploads. */
export type DirtyKind = 'input' | 'secret' | 'upload'
const sources = new Map<symbol, DirtyKind>()

/** Returns the sources with content to lose now, for `except` of `isDirty`. */
export const dirtySources = (): ReadonlySet<symbol> => new Set(sources.keys())

/**
 * Returns whether leaving would lose something.
 * @param except sources to ignore
 * @param kind only this kind
 */
export const isDirty = (except?: ReadonlySet<symbol>, kind?: DirtyKind): boolean =>
  [...sources].some(([source, sourceKind]) => !except?.has(source) && (kind === undefined || sourceKind === kind))

/** Forgets everything, after the person agreed to lose it. */
export const clearDirty = (): void => sources.clear()

/** Reports whether a source has unsaved content. */
export function setDirty(source: symbol, dirty: boolean, kind: DirtyKind = 'input'): void {
  if (dirty) sources.set(source, kind)
  else sources.delete(source)
}

/** Makes the browser ask before a tab with unsaved content closes or reloads. Call it once. */
export function warnBeforeUnload(): void {
  addEventListener('beforeunload', (event) => {
    if (isDirty()) event.preventDefault()
  })
}
