import { AsyncLocalStorage } from 'node:async_hooks'

/** What runs by the clock belongs to no request, whoever has begun it. */
const outside = AsyncLocalStorage.snapshot()

/** Calls `tick` every so many milliseconds, which keeps no process alive. @returns what ends it */
export function everyMs(ms: number, tick: () => void): () => void {
  const timer = outside(() => setInterval(tick, ms))
  timer.unref()
  return () => clearInterval(timer)
}
