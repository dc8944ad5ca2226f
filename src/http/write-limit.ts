/** How often a caller may do something within a minute: a sliding window, counted by the second, of a bounded number of callers. */
export type WriteLimit = {
  /**
   * Counts one more of this caller.
   * @param wider what the caller shares with others, and how many times as many are let through of all of them together
   * @returns undefined when it may go on; else, counting nothing, after how many seconds the next one may
   */
  take(key: string, wider?: readonly Wider[]): number | undefined
}

/** The same name with another number of times is another. */
export type Wider = { readonly key: string; readonly times: number }

const windowSeconds = 60
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
    take(key, wider = []) {
      const seconds = now() / 1000
      const second = Math.floor(seconds)
      const levels = [{ key, times: 1 }, ...wider]
      const taken = levels.map((level) => ({ counts: countsOf(`${level.times} ${level.key}`, second), most: level.times * most }))
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
