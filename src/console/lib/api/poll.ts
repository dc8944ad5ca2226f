import { useEffect, useRef } from 'preact/hooks'
import { sessionStatus } from '../session/session.ts'

const firstPauseMs = 1_500
const longestPauseMs = 30_000

/**
 * Reloads at growing intervals while a process runs that sends no events, and while the page is visible.
 * @param isUnderWay whether the process runs
 */
export function usePolling(isUnderWay: boolean, reload: () => unknown): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    if (!isUnderWay) return
    let pause = firstPauseMs
    let waiting: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      if (document.visibilityState === 'visible' && sessionStatus.value === 'in') void latest.current()
      pause = Math.min(pause * 1.5, longestPauseMs)
      waiting = setTimeout(look, pause)
    }
    waiting = setTimeout(look, pause)
    return () => clearTimeout(waiting)
  }, [isUnderWay])
}
