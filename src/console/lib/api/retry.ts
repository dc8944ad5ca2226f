/** Repeats reads that failed for a temporary cause, such as a network error or a 503. */
import { effect } from '@preact/signals'
import { isLive } from '../live/live-events.ts'
import { sessionStatus } from '../session/session.ts'
import { ApiError } from './api-error.ts'

const firstPauseMs = 5_000
const longestPauseMs = 60_000
const temporaryStatuses: ReadonlySet<number> = new Set([0, 429, 502, 503, 504])

type Retry = {
  /**
   * Schedules a retry after an error: after a growing pause or `Retry-After`, and as soon as the network or the event
   * stream is back.
   */
  retryAfter(error: unknown): void
  /** Cancels the scheduled retry, because another attempt starts. */
  cancel(): void
  /** Cancels the retry and resets the pause, after a success or when the result is no longer needed. */
  reset(): void
}

/**
 * Creates the retry of one read.
 * @param attempt reads, and calls the other functions with the outcome
 */
export function createRetry(attempt: () => unknown): Retry {
  let pause = firstPauseMs
  let stop: (() => void) | undefined
  function cancel(): void {
    stop?.()
    stop = undefined
  }
  function retryAfter(error: unknown): void {
    cancel()
    if (!(error instanceof ApiError && temporaryStatuses.has(error.status))) return
    const attemptNow = () => {
      if (document.visibilityState !== 'visible' || sessionStatus.peek() !== 'in') return
      cancel()
      void attempt()
    }
    const timer = setInterval(attemptNow, error.retryAfter === null ? pause : Math.max(error.retryAfter, 1) * 1_000)
    pause = Math.min(pause * 2, longestPauseMs)
    let wasLive = isLive.peek()
    const stopEffect = effect(() => {
      const isBack = isLive.value && !wasLive
      wasLive = isLive.value
      if (isBack) queueMicrotask(attemptNow)
    })
    addEventListener('online', attemptNow)
    document.addEventListener('visibilitychange', attemptNow)
    stop = () => {
      clearInterval(timer)
      stopEffect()
      removeEventListener('online', attemptNow)
      document.removeEventListener('visibilitychange', attemptNow)
    }
  }
  function reset(): void {
    cancel()
    pause = firstPauseMs
  }
  return { retryAfter, cancel, reset }
}
