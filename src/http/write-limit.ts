import { ipv4Number } from '../lib/networks.ts'

/** How often a caller may do something within a minute: a sliding window, counted by the second, of a bounded number of callers. */
export type WriteLimit = {
  /**
   * Counts one more of this caller.
   * @param wider what the caller shares with others, and how many times as many are let through of all of them together
   * @returns undefined when it may go on; else, counting nothing, after how many seconds the next one may
   */
  take(key: string, wider?: readonly Wider[]): number | undefined
  /** Counts nothing: undefined while this caller may go on, else after how many seconds. */
  wait(key: string): number | undefined
}

/** The same name with another number of times is another. */
export type Wider = { readonly key: string; readonly times: number }

export const windowSeconds = 60
/** Beyond, the caller who was quiet the longest is forgotten: some 5 MB at most. */
const callersMax = 10_000

/**
 * What is kept of callers stands in arrays of numbers: objects of their own, which come and go with every request, would cost more than
 * anything else that is done for so small an answer. Each caller has a number, from 1; 0 is where their order begins and ends. These are the
 * places within what is looked at of each.
 */
const fields = 4
/** The second in which the caller was looked at last. */
const newest = 0
/** How many are within the window. */
const total = 1
/** Who was quiet for longer, and who was not. */
const quieter = 2
const later = 3
const callersAtFirst = 64

/**
 * @param most how many within any minute
 * @param now milliseconds since the epoch
 */
export function createWriteLimit({ most, now, keysMax = callersMax }: { most: number; now: () => number; keysMax?: number }): WriteLimit {
  /** By name. Those that are counted more widely have a name before their key. */
  const callers = new Map<string | number, number>()
  /** Whose number is whose. */
  const names: (string | number)[] = []
  /** Numbers of those that were forgotten. */
  const free: number[] = []
  let states = new Uint32Array(callersAtFirst * fields)
  /** How many came within each second, modulo the window. */
  let seconds = new Uint32Array(callersAtFirst * windowSeconds)

  const of = (caller: number, field: number): number => states[caller * fields + field] as number
  function set(caller: number, field: number, value: number): void {
    states[caller * fields + field] = value
  }
  const placeOf = (caller: number, second: number): number => caller * windowSeconds + (second % windowSeconds)

  /** The quietest come first, to the second: nobody is moved twice within one. */
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

  /** A caller, whose count is brought up to this second; a new one where there was none. */
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
      states = twice(states)
      seconds = twice(seconds)
    }
    callers.set(name, caller)
    names[caller] = name
    set(caller, newest, second)
    append(caller)
    return caller
  }

  /** Takes out what has left the window. Under a clock that was set back, the count begins anew. */
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

  /** Not before all of a request are counted: one of them may be the quietest. */
  function forgetQuietest(): void {
    const caller = of(0, later)
    takeOut(caller)
    clear(caller)
    callers.delete(names[caller] as string | number)
    free.push(caller)
  }

  /** After how many seconds the oldest that still counts has left the window. */
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

  function takeAll(one: number, wider: readonly Wider[], at: number): number | undefined {
    const others = wider.map((level) => ({ caller: callerOf(wideName(level), Math.floor(at)), most: level.times * most }))
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
    take(key, wider = noneWider) {
      const at = now() / 1000
      const caller = callerOf(key, Math.floor(at))
      const wait = wider.length === 0 ? takeOne(caller, at) : takeAll(caller, wider, at)
      while (callers.size > keysMax) forgetQuietest()
      return wait
    },
  }
}

const noneWider: readonly Wider[] = []
/** How those that are counted more widely are told from callers. */
export const wideName = ({ key, times }: Wider): string => `${times} ${key}`

/** What a caller is found by: numbers are found sooner than texts, and most callers are IPv4 addresses. */
function nameOf(key: string): string | number {
  const number = ipv4Number(key)
  return number < 0 ? key : number | 0
}

function twice(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(2 * numbers.length)
  more.set(numbers)
  return more
}
