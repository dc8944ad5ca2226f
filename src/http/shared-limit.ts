/** A rate limit that processes share through Redis. Without Redis each process counts alone. */
import type { SharedState } from '../core/shared-state.ts'
import { sha256 } from '../lib/seal.ts'
import { createWriteLimit, type GroupLimit, groupName, type WriteLimit, windowSeconds } from './write-limit.ts'

export type SharedLimit = {
  /** Counts as `WriteLimit` does. */
  take(key: string, wider?: readonly GroupLimit[]): number | undefined | Promise<number | undefined>
  /** The local limit while nothing is shared; undefined otherwise. */
  local(): WriteLimit | undefined
}

/**
 * The sliding window of write-limit.ts in Redis: a hash of counts per second for each caller, which expires after the
 * window. Returns the milliseconds until the next request, or -1 if this one is counted.
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

/** @param name separates the callers of different limits */
export function createSharedLimit({
  name,
  most,
  now,
  shared,
}: {
  name: string
  most: number
  now: () => number
  shared: SharedState
}): SharedLimit {
  const alone = createWriteLimit({ most, now })

  async function takeShared(key: string, wider: readonly GroupLimit[]): Promise<number | undefined> {
    const callers = [
      { caller: `one ${key}`, most },
      ...wider.map((level) => ({ caller: `many ${groupName(level)}`, most: level.times * most })),
    ]
    const keys = callers.map(({ caller }) => `limit:${name}:${digest(caller)}`)
    const wait = await shared.run(script, keys, [windowSeconds, ...callers.map((one) => one.most)])
    if (typeof wait === 'number' && wait >= 0) return wait / 1000
    // Counted locally too, so that limits continue if Redis fails.
    const waitAlone = alone.take(key, wider)
    return wait === -1 ? undefined : waitAlone
  }

  return {
    take: (key, wider = []) => (shared.state() === 'here' ? takeShared(key, wider) : alone.take(key, wider)),
    local: () => (shared.state() === 'here' ? undefined : alone),
  }
}

/** Redis stores no plain addresses. */
const digest = (caller: string): string => sha256(caller).slice(0, 32)
