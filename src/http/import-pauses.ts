/** The pause is three times the wasted time, at most one second: invisible to people. */
const pauseTimes = 3
const pauseMaxMs = 1_000

/** Pauses after cancelled imports, so that a client cannot waste the server's time by cancelling repeatedly. */
export type ImportPauses = {
  /** Resolves when the pause of this owner is over. */
  wait(of: string): Promise<void>
  /** @param tookMs duration of the cancelled import */
  start(of: string, tookMs: number): void
}

/** @param now monotonic milliseconds */
export function createImportPauses(now: () => number, sleep: (ms: number) => Promise<void>): ImportPauses {
  const ends = new Map<string, number>()
  return {
    async wait(of) {
      const left = (ends.get(of) ?? 0) - now()
      if (left > 0) await sleep(left)
    },
    start(of, tookMs) {
      for (const [other, end] of ends) if (end <= now()) ends.delete(other)
      ends.set(of, now() + Math.min(pauseTimes * tookMs, pauseMaxMs))
    },
  }
}
