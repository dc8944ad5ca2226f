/** Reads again what did not come for a cause that passes: souk or the network was away, or souk said that it may be asked later. */
import { effect } from '@preact/signals'
import { isLive } from '../live/live-events.ts'
import { sessionStatus } from '../session/session.ts'
import { ApiError } from './api-error.ts'

const firstPauseMs = 5_000
const longestPauseMs = 60_000
const passing: ReadonlySet<number> = new Set([0, 429, 502, 503, 504])

export type Retry = {
  /** It failed with that: it is tried again after a pause that grows, or that souk has said; and at once where the network, or the stream of events, is back. */
  failed(error: unknown): void
  /** It is tried by somebody else. */
  begun(): void
  /** It has come, or nobody wants it any more. */
  over(): void
}

/** For one thing that is read. @param attempt reads it, and says by the others what came of it */
export function createRetry(attempt: () => unknown): Retry {
  let pause = firstPauseMs
  let stop: (() => void) | undefined
  function begun(): void {
    stop?.()
    stop = undefined
  }
  function failed(error: unknown): void {
    begun()
    if (!(error instanceof ApiError && passing.has(error.status))) return
    const now = () => {
      if (document.visibilityState !== 'visible' || sessionStatus.peek() !== 'in') return
      begun()
      void attempt()
    }
    const trying = setInterval(now, error.retryAfter === null ? pause : Math.max(error.retryAfter, 1) * 1_000)
    pause = Math.min(pause * 2, longestPauseMs)
    let was = isLive.peek()
    const forget = effect(() => {
      const isBack = isLive.value && !was
      was = isLive.value
      if (isBack) queueMicrotask(now)
    })
    addEventListener('online', now)
    document.addEventListener('visibilitychange', now)
    stop = () => {
      clearInterval(trying)
      forget()
      removeEventListener('online', now)
      document.removeEventListener('visibilitychange', now)
    }
  }
  function over(): void {
    begun()
    pause = firstPauseMs
  }
  return { failed, begun, over }
}
