import { ipv4Number } from '../lib/networks.ts'

/** A rate limit per minute: a sliding window in seconds, for a bounded number of callers. */
export type WriteLimit = {
  /**
   * Counts a request.
   * @param wider groups of the caller, each with its limit as a multiple
   * @returns undefined if allowed; otherwise the seconds until the next request, and nothing is counted
   */
  take(key: string, wider?: readonly GroupLimit[]): number | undefined
  /** Returns the seconds until the next request of a caller; undefined if allowed. Counts nothing. */
  wait(key: string): number | undefined
}

/** A group is identified by its key and its multiple. */
export type GroupLimit = { readonly key: string; readonly times: number }

export const windowSeconds = 60
/** Beyond it, the least active caller is forgotten: about 5 MB. */
const callersMax = 10_000

/**
 * Callers are stored in typed arrays, because objects per request would cost more than the rest of a cached response.
 * Each caller has a number from 1; 0 is the ends of the list. These are the fields of a caller.
 */
const fields = 4
/** The second of the last update. */
const newest = 0
/** Requests within the window. */
const total = 1
/** Neighbours in the list, ordered by activity. */
const quieter = 2
const later = 3
const callersAtFirst = 64

/**
 * @param most requests per minute
 * @param now milliseconds since the epoch
 */
export function createWriteLimit({ most, now, keysMax = callersMax }: { most: number; now: () => number; keysMax?: number }): WriteLimit {
  /** Numbers by name. Groups have a prefix. */
  const callers = new Map<string | number, number>()
  /** Names by number. */
  const names: (string | number)[] = []
  /** Unused numbers. */
  const free: number[] = []
  let states = new Uint32Array(callersAtFirst * fields)
  /** Requests per second, modulo the window. */
  let seconds = new Uint32Array(callersAtFirst * windowSeconds)

  const of = (caller: number, field: number): number => states[caller * fields + field] as number
  function set(caller: number, field: number, value: number): void {
    states[caller * fields + field] = value
  }
  const placeOf = (caller: number, second: number): number => caller * windowSeconds + (second % windowSeconds)

  /** Appends a caller; the least active come first, with a precision of one second. */
  function append(caller: number): void {
    const last = of(0, quieter)
    set(caller, quieter, last)
    set(caller, later, 0)
    set(last, later, caller)
    set(0, quieter, caller)
  }

  function takeOut(caller: number): void {
    set(of(caller, quieter), later, of(caller, later))
    set(of(caller, later), quieter, of(caller, quieter))
  }

  /** Returns the number of a caller, updated to this second. */
  function callerOf(key: string, second: number): number {
    const name = nameOf(key)
    const known = callers.get(name)
    if (known === undefined) return begin(name, second)
    if (of(known, newest) === second) return known
    forgetUntil(known, second)
    takeOut(known)
    append(known)
    return known
  }

  function begin(name: string | number, second: number): number {
    const caller = free.pop() ?? callers.size + 1
    if (caller * fields === states.length) {
      states = doubled(states)
      seconds = doubled(seconds)
    }
    callers.set(name, caller)
    names[caller] = name
    set(caller, newest, second)
    append(caller)
    return caller
  }

  /** Removes seconds that left the window. Starts over if the clock was set back. */
  function forgetUntil(caller: number, second: number): void {
    const passed = second - of(caller, newest)
    if (passed < 0 || passed >= windowSeconds) clear(caller)
    else
      for (let next = second - passed + 1; next <= second; next++) {
        const place = placeOf(caller, next)
        const left = seconds[place] as number
        if (left === 0) continue
        set(caller, total, of(caller, total) - left)
        seconds[place] = 0
      }
    set(caller, newest, second)
  }

  function clear(caller: number): void {
    set(caller, total, 0)
    seconds.fill(0, caller * windowSeconds, (caller + 1) * windowSeconds)
  }

  function count(caller: number): void {
    const place = placeOf(caller, of(caller, newest))
    seconds[place] = (seconds[place] as number) + 1
    set(caller, total, of(caller, total) + 1)
  }

  /** Called after all callers of a request were counted, because one of them may be the least active. */
  function forgetQuietest(): void {
    const caller = of(0, later)
    takeOut(caller)
    clear(caller)
    callers.delete(names[caller] as string | number)
    free.push(caller)
  }

  /** Returns the seconds until the oldest counted request leaves the window. */
  function waitOf(caller: number, at: number): number {
    const last = of(caller, newest)
    let oldest = Math.max(0, last - windowSeconds + 1)
    while (oldest < last && seconds[placeOf(caller, oldest)] === 0) oldest++
    return oldest + windowSeconds - at
  }

  function takeOne(caller: number, at: number): number | undefined {
    if (of(caller, total) >= most) return waitOf(caller, at)
    count(caller)
    return undefined
  }

  function takeAll(one: number, wider: readonly GroupLimit[], at: number): number | undefined {
    const others = wider.map((level) => ({ caller: callerOf(groupName(level), Math.floor(at)), most: level.times * most }))
    const taken = [{ caller: one, most }, ...others]
    const waits = taken.flatMap((level) => (of(level.caller, total) >= level.most ? [waitOf(level.caller, at)] : []))
    if (waits.length > 0) return Math.max(...waits)
    for (const { caller } of taken) count(caller)
    return undefined
  }

  return {
    wait(key) {
      if (!callers.has(nameOf(key))) return undefined
      const at = now() / 1000
      const caller = callerOf(key, Math.floor(at))
      return of(caller, total) >= most ? waitOf(caller, at) : undefined
    },
    take(key, wider = noGroups) {
      const at = now() / 1000
      const caller = callerOf(key, Math.floor(at))
      const wait = wider.length === 0 ? takeOne(caller, at) : takeAll(caller, wider, at)
      while (callers.size > keysMax) forgetQuietest()
      return wait
    },
  }
}

const noGroups: readonly GroupLimit[] = []
/** The name of a group. */
export const groupName = ({ key, times }: GroupLimit): string => `${times} ${key}`

/** The map key of a caller: a number for IPv4 addresses, because lookups of numbers are faster. */
function nameOf(key: string): string | number {
  const number = ipv4Number(key)
  return number < 0 ? key : number | 0
}

function doubled(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(2 * numbers.length)
  more.set(numbers)
  return more
}
