import { useLayoutEffect, useState } from 'preact/hooks'
import { type DirtyKind, setDirty } from './unsaved-changes.ts'

/**
 * Says whether something here would be lost, for as long as it is shown. A layout effect: what others clean up they do after the browser has
 * painted, and one may be asked about what is gone.
 */
export function useDirty(dirty: boolean, what: DirtyKind = 'typed'): void {
  const [mine] = useState(() => Symbol('dirty'))
  useLayoutEffect(() => {
    setDirty(mine, dirty, what)
    return () => setDirty(mine, false)
  }, [dirty])
}
