/** Shares breakers among processes through Redis, within about a second. */
import type { SharedState } from '../../../core/shared-state.ts'
import { type Breaker, closedBreaker } from '../../../lib/breaker.ts'
import type { BreakerOf, Breakers } from './breakers.ts'
import { processorNames } from './domain.ts'

const keys = ['breakers', 'breakers:version']
/**
 * Stores a state under the next version and returns it. All keys expire an hour after the last change; an open breaker
 * changes more often.
 */
const putScript = `
local version = redis.call('INCR', KEYS[2])
redis.call('HSET', KEYS[1], ARGV[1], version .. ' ' .. ARGV[2])
redis.call('EXPIRE', KEYS[1], 3600)
return version`
const allScript = "return redis.call('HGETALL', KEYS[1])"
/** Above this number closed breakers are removed: they need not be shared for long. */
const keptMax = 2_000
const removeScript = "return redis.call('HDEL', KEYS[1], unpack(ARGV))"

const states: ReadonlySet<string> = new Set(['CLOSED', 'OPEN', 'HALF_OPEN'])

/**
 * Creates the sharing of one process.
 * @param breakers called late, because the breakers report their changes here
 */
export function createBreakerSharing(shared: SharedState, breakers: () => Pick<Breakers, 'of' | 'take'>) {
  /** The last known version of each breaker. */
  const versions = new Map<string, number>()
  /** Changes here that are not shared yet. */
  const unshared = new Map<string, symbol>()
  let isAdopting = false

  async function share(field: string): Promise<void> {
    const change = unshared.get(field)
    const version = await shared.run(putScript, keys, [field, JSON.stringify(breakers().of(atOf(field)))])
    if (typeof version !== 'number') return
    versions.set(field, version)
    if (unshared.get(field) === change) unshared.delete(field)
  }

  return {
    /** Shares a change of this process. */
    changed({ processor, host }: BreakerOf): void {
      if (isAdopting || shared.state() === 'off') return
      const field = `${processor} ${host}`
      unshared.set(field, Symbol())
      void share(field)
    },
    /** Reads other processes' changes, and shares what failed before. */
    async sync(): Promise<void> {
      if (shared.state() !== 'here') return
      await Promise.all([...unshared.keys()].map(share))
      const all = pairsOf((await shared.run(allScript, keys, [])) ?? [])
      for (const [field, text] of all) {
        const [version, breaker] = parseState(text)
        if (unshared.has(field) || breaker === undefined || versions.get(field) === version || !isKnown(field)) continue
        versions.set(field, version)
        isAdopting = true
        breakers().take(atOf(field), breaker)
        isAdopting = false
      }
      if (all.length > keptMax) {
        const ended = all.filter(([, text]) => parseState(text)[1] === closedBreaker).map(([field]) => field)
        if (ended.length > 0) await shared.run(removeScript, keys, ended.slice(0, keptMax / 2))
        for (const field of ended) versions.delete(field)
      }
    },
  }
}

/** Converts a hash as scripts return it: names and values in turn. */
function pairsOf(answer: unknown): [field: string, text: string][] {
  const flat = answer as readonly string[]
  return flat.flatMap((field, at) => (at % 2 === 0 ? [[field, flat[at + 1] ?? '']] : []))
}

const atOf = (field: string): BreakerOf => {
  const [processor = '', host = ''] = field.split(' ')
  return { processor, host } as BreakerOf
}
const isKnown = (field: string): boolean => processorNames.some((name) => field.startsWith(`${name} `))

function parseState(text: string): [version: number, breaker: Breaker | undefined] {
  const space = text.indexOf(' ')
  const breaker = JSON.parse(text.slice(space + 1)) as Breaker
  const isClosed = breaker.state === 'CLOSED' && breaker.failures === 0
  return [Number(text.slice(0, space)), isClosed ? closedBreaker : states.has(breaker.state) ? breaker : undefined]
}
