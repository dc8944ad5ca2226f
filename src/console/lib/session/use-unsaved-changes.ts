import { useLayoutEffect, useState } from 'preact/hooks'
import { type DirtyKind, setDirty } from './unsaved-changes.ts'

/**
 * Reports unsaved content while the component is shown. A layout effect, because the cleanup of an effect runs after
 * the next paint.
 */
export function useDirty(dirty: boolean, what: DirtyKind = 'typed'): void {
  const [mine] = useState(() => Symbol('dirty'))
  useLayoutEffect(() => {
    setDirty(mine, dirty, what)
    return () => setDirty(mine, false)
  }, [dirty])
}
