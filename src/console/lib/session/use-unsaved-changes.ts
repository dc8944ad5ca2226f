import { useLayoutEffect, useState } from 'preact/hooks'
import { type DirtyKind, setDirty } from './unsaved-changes.ts'

/**
 * Reports unsaved content while the component is shown. A layout effect, because the cleanup of an effect runs after
 * the next paint.
 */
export function useDirty(dirty: boolean, kind: DirtyKind = 'input'): void {
  const [source] = useState(() => Symbol('dirty'))
  useLayoutEffect(() => {
    setDirty(source, dirty, kind)
    return () => setDirty(source, false)
  }, [dirty])
}
