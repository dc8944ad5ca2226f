/** So many times as long as what was begun in vain, and no longer than the other: nobody who changed their mind notices. */
const pauseTimes = 3
const pauseMaxMs = 1_000

/** Pauses after imports whose client left: whoever begins one after the other and leaves has the server read each for nothing. */
export type ImportPauses = {
  /** Resolves once the pause of this slot is over. */
  over(of: string): Promise<void>
  /** @param tookMs what was begun in vain has taken so long */
  begin(of: string, tookMs: number): void
}

/** @param now milliseconds of a clock that only goes forward */
export function createImportPauses(now: () => number, sleep: (ms: number) => Promise<void>): ImportPauses {
  const ends = new Map<string, number>()
  return {
    async over(of) {
      const left = (ends.get(of) ?? 0) - now()
      if (left > 0) await sleep(left)
    },
    begin(of, tookMs) {
      for (const [other, end] of ends) if (end <= now()) ends.delete(other)
      ends.set(of, now() + Math.min(pauseTimes * tookMs, pauseMaxMs))
    },
  }
}
