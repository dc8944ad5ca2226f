import { AsyncLocalStorage } from 'node:async_hooks'

/** Timers run outside of the request context that created them. */
const runOutsideContext = AsyncLocalStorage.snapshot()

/**
 * Calls `tick` at an interval without keeping the process alive.
 * @returns a function that stops it
 */
export function everyMs(ms: number, tick: () => void): () => void {
  const timer = runOutsideContext(() => setInterval(tick, ms))
  timer.unref()
  return () => clearInterval(timer)
}
