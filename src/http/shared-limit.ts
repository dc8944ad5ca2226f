/** A limit that several processes count together, while they can; each by itself otherwise. */
import type { Shared } from '../core/shared-state.ts'
import { sha256 } from '../lib/seal.ts'
import { createWriteLimit, type Wider, type WriteLimit, wideName, windowSeconds } from './write-limit.ts'

export type SharedLimit = {
  /** Counts as `WriteLimit` does. */
  take(key: string, wider?: readonly Wider[]): number | undefined | Promise<number | undefined>
  /** What counts while nothing is shared, at once; undefined while something is. */
  local(): WriteLimit | undefined
}

/**
 * The sliding window of write-limit.ts by Redis' own clock: a hash of counts by the second for each caller, gone when the window has passed.
 * Answers the milliseconds until the next one may come, -1 when this one may and is counted.
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

/** @param name tells its callers from those of other limits */
export function createSharedLimit({
  name,
  most,
  now,
  shared,
}: {
  name: string
  most: number
  now: () => number
  shared: Shared
}): SharedLimit {
  const alone = createWriteLimit({ most, now })

  async function together(key: string, wider: readonly Wider[]): Promise<number | undefined> {
    const callers = [
      { caller: `one ${key}`, most },
      ...wider.map((level) => ({ caller: `many ${wideName(level)}`, most: level.times * most })),
    ]
    const keys = callers.map(({ caller }) => `limit:${name}:${digest(caller)}`)
    const wait = await shared.run(script, keys, [windowSeconds, ...callers.map((one) => one.most)])
    if (typeof wait === 'number' && wait >= 0) return wait / 1000
    // Counted here as well: should Redis be lost, nobody begins anew.
    const waitAlone = alone.take(key, wider)
    return wait === -1 ? undefined : waitAlone
  }

  return {
    take: (key, wider = []) => (shared.state() === 'here' ? together(key, wider) : alone.take(key, wider)),
    local: () => (shared.state() === 'here' ? undefined : alone),
  }
}

/** Nobody reads addresses in Redis. */
const digest = (caller: string): string => sha256(caller).slice(0, 32)
