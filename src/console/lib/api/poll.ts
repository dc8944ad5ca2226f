import { useEffect, useRef } from 'preact/hooks'
import { sessionStatus } from '../session/session.ts'

const firstPauseMs = 1_500
const longestPauseMs = 30_000

/**
 * Reloads at growing intervals while a process runs that sends no events, and while the page is visible.
 * @param isRunning whether the process runs
 */
export function usePolling(isRunning: boolean, reload: () => unknown): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    if (!isRunning) return
    let pause = firstPauseMs
    let timer: ReturnType<typeof setTimeout> | undefined
    const poll = () => {
      if (document.visibilityState === 'visible' && sessionStatus.value === 'in') void latest.current()
      pause = Math.min(pause * 1.5, longestPauseMs)
      timer = setTimeout(poll, pause)
    }
    timer = setTimeout(poll, pause)
    return () => clearTimeout(timer)
  }, [isRunning])
}
