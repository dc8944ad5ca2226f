/** Figures that cost something to make, kept for a while. */
export type Kept<T> = {
  /** What was made last while it is fresh, else what `make` makes now; those who ask at once wait for the same. */
  fresh(make: () => Promise<T>): Promise<T>
}

/** However little they cost. */
const keptMinMs = 15_000
/** Of the time, at most one part in so many goes into making them. */
const share = 100

/** @param monotonic milliseconds of a clock that nobody sets */
export function createKept<T>(monotonic: () => number): Kept<T> {
  let made: { readonly value: T; readonly until: number } | undefined
  let making: Promise<T> | undefined

  async function anew(make: () => Promise<T>): Promise<T> {
    const startedAt = monotonic()
    try {
      const value = await make()
      const now = monotonic()
      made = { value, until: now + Math.max(keptMinMs, share * (now - startedAt)) }
      return value
    } finally {
      making = undefined
    }
  }

  return {
    async fresh(make) {
      if (made && monotonic() < made.until) return made.value
      making ??= anew(make)
      return making
    },
  }
}
