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
  /** By the second, modulo the window; undefined while all of them are of the newest second: most callers come once. */
  bySecond: Uint32Array | undefined
  newest: number
  total: number
}

/**
 * @param most how many within any minute
 * @param now milliseconds since the epoch
 */
export function createWriteLimit({ most, now, keysMax = callersMax }: { most: number; now: () => number; keysMax?: number }): WriteLimit {
  /** The one who was quiet the longest comes first. Those that are counted more widely have a name before their key. */
  const callers = new Map<string, Counts>()
  /** Stands behind those that were forgotten: to begin anew each time would walk over the places of all that are gone. */
  const quietest = callers.keys()

  function countsOf(key: string, second: number): Counts {
    const known = callers.get(key)
    const counts = known ?? { bySecond: undefined, newest: second, total: 0 }
    if (known) callers.delete(key)
    callers.set(key, counts)
    if (callers.size > keysMax) callers.delete(quietest.next().value ?? key)
    forgetUntil(counts, second)
    return counts
  }

  return {
    take(key, wider) {
      const seconds = now() / 1000
      const second = Math.floor(seconds)
      const one = countsOf(key, second)
      if (wider === undefined) {
        if (one.total >= most) return waitOf(one, seconds)
        count(one)
        return undefined
      }
      const many = countsOf(`many ${wider}`, second)
      const waits = [
        ...(one.total >= most ? [waitOf(one, seconds)] : []),
        ...(many.total >= widerTimes * most ? [waitOf(many, seconds)] : []),
      ]
      if (waits.length > 0) return Math.max(...waits)
      count(one)
      count(many)
      return undefined
    },
  }
}

const waitOf = (counts: Counts, seconds: number): number => oldestOf(counts) + windowSeconds - seconds

function count(counts: Counts): void {
  const { bySecond } = counts
  const at = counts.newest % windowSeconds
  if (bySecond) bySecond[at] = (bySecond[at] ?? 0) + 1
  counts.total++
}

/** Takes out what has left the window. Under a clock that was set back, the count begins anew. */
function forgetUntil(counts: Counts, second: number): void {
  const passed = second - counts.newest
  if (passed < 0 || passed >= windowSeconds) {
    counts.bySecond = undefined
    counts.total = 0
  } else if (passed > 0 && counts.total > 0) {
    counts.bySecond ??= new Uint32Array(windowSeconds).fill(
      counts.total,
      counts.newest % windowSeconds,
      (counts.newest % windowSeconds) + 1,
    )
    for (let next = counts.newest + 1; next <= second; next++) {
      counts.total -= counts.bySecond[next % windowSeconds] ?? 0
      counts.bySecond[next % windowSeconds] = 0
    }
  }
  counts.newest = second
}

/** The second of the oldest that still counts. */
function oldestOf({ bySecond, newest }: Counts): number {
  if (!bySecond) return newest
  let second = newest - windowSeconds + 1
  while (second < newest && bySecond[second % windowSeconds] === 0) second++
  return second
}
