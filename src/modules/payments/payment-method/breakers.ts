/**
 * The circuit breakers of this process, one for each processor and host: a merchant's dead server must not stop
 * others.
 */
import {
  afterFailure,
  afterProbe,
  afterSuccess,
  type Breaker,
  closedBreaker,
  isClosed,
  isProbeDue,
  startProbe,
} from '../../../lib/breaker.ts'
import type { ProcessorName } from './domain.ts'

/** Hosts of one processor to remember. */
const hostsMax = 200

export type BreakerOf = { readonly processor: ProcessorName; readonly host: string }
export type Breakers = ReturnType<typeof createBreakers>

/** Called after every change of a breaker. */
export type BreakerChanged = (at: BreakerOf, before: Breaker, after: Breaker) => void
type Options = { readonly random?: () => number; readonly changed?: BreakerChanged }

/**
 * @param now milliseconds since the epoch
 * @param random from 0 to 1; spreads the doubled pauses
 */
export function createBreakers(now: () => number, { random = () => 0, changed = () => undefined }: Options = {}) {
  /** By processor, then by host. A closed breaker without failures is not stored. */
  const stored = new Map<ProcessorName, Map<string, Breaker>>()
  let version = 0

  const of = ({ processor, host }: BreakerOf): Breaker => stored.get(processor)?.get(host) ?? closedBreaker

  function set(at: BreakerOf, before: Breaker, after: Breaker): void {
    if (after === before) return
    if (isClosed(after) !== isClosed(before)) version++
    const hosts = stored.getOrInsertComputed(at.processor, () => new Map<string, Breaker>())
    // The last changed one comes last.
    hosts.delete(at.host)
    if (after !== closedBreaker) hosts.set(at.host, after)
    if (hosts.size > hostsMax) forgetOne(hosts)
    changed(at, before, after)
  }

  /** Drops the breaker that changed longest ago, closed ones first, and never the newest. */
  function forgetOne(hosts: Map<string, Breaker>): void {
    const all = [...hosts].slice(0, -1)
    const [oldest] = all.find(([, breaker]) => isClosed(breaker)) ?? all[0] ?? []
    if (oldest === undefined) return
    if (!isClosed(hosts.get(oldest) ?? closedBreaker)) version++
    hosts.delete(oldest)
  }

  return {
    of,
    /** Incremented when a breaker opens or closes. */
    version: () => version,
    /** Whether calls pass. */
    passes: (at: BreakerOf): boolean => isClosed(of(at)),
    /** Records an answer of any kind: a decline, a refusal, a wrong key. */
    recordAnswer: (at: BreakerOf): void => set(at, of(at), afterSuccess(of(at))),
    /** Records a failure: a timeout, a network error or 5xx. */
    failed: (at: BreakerOf): void => set(at, of(at), afterFailure(of(at), now())),
    /** Takes the probe that is due; false if none is, or another run has it. */
    beginProbe(at: BreakerOf): boolean {
      const before = of(at)
      const after = startProbe(before, now())
      set(at, before, after)
      return after !== before
    },
    /** Records the result of a probe. */
    recordProbe: (at: BreakerOf, wasAnswered: boolean): void => set(at, of(at), afterProbe(of(at), wasAnswered, now(), random())),
    /** Stores a breaker of another process. */
    take: (at: BreakerOf, breaker: Breaker): void => set(at, of(at), breaker),
    /** Lists the breakers that are due for a probe. */
    due: (): BreakerOf[] => all().filter(({ breaker }) => isProbeDue(breaker, now())),
    all,
  }

  /** Lists the breakers with a state. */
  function all(): (BreakerOf & { breaker: Breaker })[] {
    return [...stored].flatMap(([processor, hosts]) => [...hosts].map(([host, breaker]) => ({ processor, host, breaker })))
  }
}
