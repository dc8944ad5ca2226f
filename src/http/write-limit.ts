/** How often a caller may do something within a minute: a sliding window, counted by the second, of a bounded number of callers. */
export type WriteLimit = {
  /**
   * Counts one more of this caller.
   * @param wider what the caller shares with others, of whom ten times as many are let through together
   * @returns undefined when it may go on; else, counting nothing, after how many seconds the next one may
   */
  take(key: string, wider?: string): number | undefined
}

export const windowSeconds = 60
/** An office behind one address still shops; an address that opens accounts gains no more than this. */
export const widerTimes = 10
/** Beyond, the caller who was quiet the longest is forgotten: some 4 MB at most. */
const callersMax = 10_000

type Counts = {
  /** By the second, modulo the window. */
  readonly bySecond: Uint32Array
  newest: number
  total: number
}

/**
 * @param most how many within any minute
 * @param now milliseconds since the epoch
 */
export function createWriteLimit({ most, now, keysMax = callersMax }: { most: number; now: () => number; keysMax?: number }): WriteLimit {
  /** The one who was quiet the longest comes first. */
  const callers = new Map<string, Counts>()
  /** Stands behind those that were forgotten: to begin anew each time would walk over the places of all that are gone. */
  const quietest = callers.keys()

  function countsOf(key: string, second: number): Counts {
    const counts = callers.get(key) ?? { bySecond: new Uint32Array(windowSeconds), newest: second, total: 0 }
    callers.delete(key)
    callers.set(key, counts)
    if (callers.size > keysMax) callers.delete(quietest.next().value ?? key)
    forgetUntil(counts, second)
    return counts
  }

  return {
    take(key, wider) {
      const seconds = now() / 1000
      const second = Math.floor(seconds)
      const taken = [{ counts: countsOf(`one ${key}`, second), most }]
      if (wider !== undefined) taken.push({ counts: countsOf(`many ${wider}`, second), most: widerTimes * most })
      const waits = taken.flatMap((one) => (one.counts.total >= one.most ? [oldestOf(one.counts) + windowSeconds - seconds] : []))
      if (waits.length > 0) return Math.max(...waits)
      for (const { counts } of taken) count(counts)
      return undefined
    },
  }
}

function count(counts: Counts): void {
  const at = counts.newest % windowSeconds
  counts.bySecond[at] = (counts.bySecond[at] ?? 0) + 1
  counts.total++
}

/** Takes out what has left the window. Under a clock that was set back, the count begins anew. */
function forgetUntil(counts: Counts, second: number): void {
  const passed = second - counts.newest
  if (passed < 0 || passed >= windowSeconds) {
    counts.bySecond.fill(0)
    counts.total = 0
  } else {
    for (let next = counts.newest + 1; next <= second; next++) {
      counts.total -= counts.bySecond[next % windowSeconds] ?? 0
      counts.bySecond[next % windowSeconds] = 0
    }
  }
  counts.newest = second
}

/** The second of the oldest that still counts. */
function oldestOf({ bySecond, newest }: Counts): number {
  let second = newest - windowSeconds + 1
  while (second < newest && bySecond[second % windowSeconds] === 0) second++
  return second
}
