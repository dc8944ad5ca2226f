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

export const windowSeconds = 60
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
  /** The one who was quiet the longest, to the second, comes first. Those that are counted more widely have a name before their key. */
  const callers = new Map<string, Counts>()
  /** Stands behind those that were forgotten: to begin anew each time would walk over the places of all that are gone. */
  const quietest = callers.keys()

  function countsOf(key: string, second: number): Counts {
    const known = callers.get(key)
    // As late as can be, to the second: what comes most costs no more than a look.
    if (known?.newest === second) return known
    const counts = known ?? { bySecond: undefined, newest: second, total: 0 }
    if (known) callers.delete(key)
    callers.set(key, counts)
    if (callers.size > keysMax) callers.delete(quietest.next().value ?? key)
    forgetUntil(counts, second)
    return counts
  }

  return {
    take(key, wider = noneWider) {
      const seconds = now() / 1000
      const second = Math.floor(seconds)
      const one = countsOf(key, second)
      if (wider.length === 0) {
        if (one.total >= most) return waitOf(one, seconds)
        count(one)
        return undefined
      }
      const others = wider.map((level) => ({ counts: countsOf(wideName(level), second), most: level.times * most }))
      const taken = [{ counts: one, most }, ...others]
      const waits = taken.flatMap((level) => (level.counts.total >= level.most ? [waitOf(level.counts, seconds)] : []))
      if (waits.length > 0) return Math.max(...waits)
      for (const { counts } of taken) count(counts)
      return undefined
    },
  }
}

const noneWider: readonly Wider[] = []
/** How those that are counted more widely are told from callers. */
export const wideName = ({ key, times }: Wider): string => `${times} ${key}`

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
