/**
 * Limits requests per minute by a sliding window in seconds, shared by processes through Redis.
 * Prevents: floods of changes and lookups by one address, account or network.
 * Bench: abuse, "writes under a publishable key, of which 600 a minute are let through".
 */
import { sha256 } from '../../lib/seal.ts'
import { noSharedState, type SharedState } from '../shared-state.ts'

/** Requests that each caller may make in a minute. */
export type RateLimit = {
  /**
   * Counts a request.
   * @param groups of the caller, each with its limit as a multiple
   * @returns undefined if allowed; otherwise the seconds until the next request, and nothing is counted
   */
  take(key: string, groups?: readonly GroupLimit[]): number | undefined | Promise<number | undefined>
  /** Returns the seconds until the next request, as this process counts; undefined if allowed. Counts nothing. */
  wait(key: string): number | undefined
  /** Whether this process counts alone, so that `take` returns at once. */
  isLocal(): boolean
}

/** A group is identified by its key and its multiple. */
type GroupLimit = { readonly key: string; readonly times: number }

/** `counts`: per second, modulo the window; undefined while all requests came in `second`, as most callers' do. */
type Window = { second: number; total: number; counts: Uint32Array | undefined }

const windowSeconds = 60

/**
 * The same window in Redis: a hash of counts per second for each caller, which expires after the window. Returns the
 * milliseconds until the next request, or -1 if this one is counted.
 */
const script = `
local time = redis.call('TIME')
local second = tonumber(time[1])
local now = second + tonumber(time[2]) / 1000000
local window = tonumber(ARGV[1])
local wait = -1
for at, key in ipairs(KEYS) do
  local counts = redis.call('HGETALL', key)
  local total, oldest = 0, second
  for nth = 1, #counts, 2 do
    local then_ = tonumber(counts[nth])
    if then_ <= second - window then
      redis.call('HDEL', key, counts[nth])
    else
      total = total + tonumber(counts[nth + 1])
      if then_ < oldest then oldest = then_ end
    end
  end
  if total >= tonumber(ARGV[at + 1]) then wait = math.max(wait, math.ceil((oldest + window - now) * 1000)) end
end
if wait >= 0 then return wait end
for _, key in ipairs(KEYS) do
  redis.call('HINCRBY', key, second, 1)
  redis.call('EXPIRE', key, window + 1)
end
return -1`

/**
 * Creates a rate limit.
 * @param name separates the callers of different limits in Redis
 * @param most requests per minute
 * @param now milliseconds since the epoch
 * @param keysMax maximum number of callers in memory (about 5 MB); the least active one is removed
 */
export function createRateLimit({
  name,
  most,
  now,
  shared = noSharedState,
  keysMax = 10_000,
}: {
  name: string
  most: number
  now: () => number
  shared?: SharedState
  keysMax?: number
}): RateLimit {
  /** By caller; groups have their multiple before a space. The least active come first, to the second. */
  const windows = new Map<string, Window>()
  /** Stays at the least active: a new iterator would skip all deleted entries again. */
  const leastActive = windows.keys()
  const groupName = (group: GroupLimit) => `${group.times} ${group.key}`

  /** Returns the window of a caller, updated to this second. */
  function windowOf(caller: string, second: number): Window {
    const window = windows.get(caller)
    if (window?.second === second) return window
    const updated = window ?? { second, total: 0, counts: undefined }
    forgetUntil(updated, second)
    if (window) windows.delete(caller)
    windows.set(caller, updated)
    return updated
  }

  function takeLocally(key: string, groups: readonly GroupLimit[]): number | undefined {
    const at = now() / 1000
    const ownWindow = windowOf(key, Math.floor(at))
    const others = groups.map((group) => ({ window: windowOf(groupName(group), Math.floor(at)), most: group.times * most }))
    let wait = ownWindow.total < most ? undefined : waitOf(ownWindow, at)
    for (const { window, most } of others) if (window.total >= most) wait = Math.max(wait ?? 0, waitOf(window, at))
    if (wait === undefined) for (const { window } of [{ window: ownWindow }, ...others]) count(window)
    while (windows.size > keysMax) windows.delete(leastActive.next().value as string)
    return wait
  }

  async function takeShared(key: string, groups: readonly GroupLimit[]): Promise<number | undefined> {
    const callers = [
      { name: `one ${key}`, most },
      ...groups.map((group) => ({ name: `many ${groupName(group)}`, most: group.times * most })),
    ]
    // Redis stores no plain addresses.
    const keys = callers.map((caller) => `limit:${name}:${sha256(caller.name).slice(0, 32)}`)
    const wait = await shared.run(script, keys, [windowSeconds, ...callers.map((caller) => caller.most)])
    if (typeof wait === 'number' && wait >= 0) return wait / 1000
    // Counted locally too, so that limits continue if Redis fails.
    const localWait = takeLocally(key, groups)
    return wait === -1 ? undefined : localWait
  }

  const isLocal = () => shared.state() !== 'here'

  return {
    isLocal,
    take: (key, groups = noGroups) => (isLocal() ? takeLocally(key, groups) : takeShared(key, groups)),
    wait(key) {
      if (!windows.has(key)) return undefined
      const at = now() / 1000
      const window = windowOf(key, Math.floor(at))
      return window.total >= most ? waitOf(window, at) : undefined
    },
  }
}

const noGroups: readonly GroupLimit[] = []

/** Removes seconds that left the window. Starts over if the clock was set back. */
function forgetUntil(window: Window, second: number): void {
  const passed = second - window.second
  if (passed < 0 || passed >= windowSeconds) {
    window.counts = undefined
    window.total = 0
  } else if (passed > 0 && window.total > 0) {
    window.counts ??= new Uint32Array(windowSeconds).fill(window.total, window.second % windowSeconds, (window.second % windowSeconds) + 1)
    for (let next = window.second + 1; next <= second; next++) {
      window.total -= window.counts[next % windowSeconds] as number
      window.counts[next % windowSeconds] = 0
    }
  }
  window.second = second
}

function count(window: Window): void {
  const at = window.second % windowSeconds
  if (window.counts) window.counts[at] = (window.counts[at] as number) + 1
  window.total++
}

/** Returns the seconds until the oldest counted request leaves the window. */
function waitOf({ second, counts }: Window, at: number): number {
  let oldest = counts ? Math.max(0, second - windowSeconds + 1) : second
  while (oldest < second && counts?.[oldest % windowSeconds] === 0) oldest++
  return oldest + windowSeconds - at
}
