import { useLayoutEffect, useState } from 'preact/hooks'
import { holdDirty } from './dirty.ts'

/**
 * Says whether something here waits to be sent, for as long as it is shown. A layout effect: what others clean up they do after the browser has
 * painted, and one may be asked about what is gone.
 */
export function useDirty(dirty: boolean): void {
  const [mine] = useState(() => Symbol('dirty'))
  useLayoutEffect(() => {
    holdDirty(mine, dirty)
    return () => holdDirty(mine, false)
  }, [dirty])
}
