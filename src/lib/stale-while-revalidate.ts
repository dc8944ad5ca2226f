/** Caches a value that is expensive to compute. */
type StaleWhileRevalidate<T> = {
  /**
   * Returns the cached value while it is fresh. Otherwise it calls `make`, once for concurrent calls. If `make` was
   * slow the last time, the stale value is returned and `make` runs in the background.
   */
  get(make: () => Promise<T>): Promise<T>
}

/** Minimum time that a value stays fresh. */
const freshMinMs = 15_000
/** A value stays fresh for this multiple of its computing time, so computing takes at most 1 % of the time. */
const share = 100
/** Callers do not wait if the last computation took longer. */
const waitMaxMs = 250

/**
 * Creates a cache that returns the old value while it loads a new one.
 * @param monotonic monotonic milliseconds
 */
export function createStaleWhileRevalidate<T>(monotonic: () => number): StaleWhileRevalidate<T> {
  let made: { readonly value: T; readonly tookMs: number; readonly until: number } | undefined
  let making: Promise<T> | undefined

  async function recompute(make: () => Promise<T>): Promise<T> {
    const startedAt = monotonic()
    try {
      const value = await make()
      const now = monotonic()
      const tookMs = now - startedAt
      made = { value, tookMs, until: now + Math.max(freshMinMs, share * tookMs) }
      return value
    } finally {
      making = undefined
    }
  }

  return {
    async get(make) {
      if (made && monotonic() < made.until) return made.value
      making ??= recompute(make)
      if (!made || made.tookMs <= waitMaxMs) return making
      // After an error, the next call tries again.
      making.catch(() => undefined)
      return made.value
    },
  }
}
