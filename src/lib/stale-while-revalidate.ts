/** Figures that cost something to make, kept for a while. */
export type Kept<T> = {
  /**
   * What was made last while it is fresh, else what `make` makes now; those who ask at once have it made once. Where that takes long, it is
   * made behind what was made before, which is handed out meanwhile.
   */
  fresh(make: () => Promise<T>): Promise<T>
}

/** However little they cost. */
const keptMinMs = 15_000
/** Of the time, at most one part in so many goes into making them. */
const share = 100
/** What took longer last time is not waited for. */
const patienceMs = 250

/** @param monotonic milliseconds of a clock that nobody sets */
export function createKept<T>(monotonic: () => number): Kept<T> {
  let made: { readonly value: T; readonly tookMs: number; readonly until: number } | undefined
  let making: Promise<T> | undefined

  async function anew(make: () => Promise<T>): Promise<T> {
    const startedAt = monotonic()
    try {
      const value = await make()
      const now = monotonic()
      const tookMs = now - startedAt
      made = { value, tookMs, until: now + Math.max(keptMinMs, share * tookMs) }
      return value
    } finally {
      making = undefined
    }
  }

  return {
    async fresh(make) {
      if (made && monotonic() < made.until) return made.value
      making ??= anew(make)
      if (!made || made.tookMs <= patienceMs) return making
      // Should it fail, whoever asks next has it tried again.
      making.catch(() => undefined)
      return made.value
    },
  }
}
