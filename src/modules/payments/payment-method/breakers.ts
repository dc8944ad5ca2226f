/** The circuit breakers of this process: one for each processor and host, since a merchant's own dead server is nobody else's trouble. */
import { type Breaker, closed, failed, isToProbe, lets, probed, probing, succeeded } from '../../../lib/breaker.ts'
import type { ProcessorName } from './domain.ts'

/** Hosts of one processor of which something is remembered. */
const hostsMax = 200

export type BreakerOf = { readonly processor: ProcessorName; readonly host: string }
export type Breakers = ReturnType<typeof createBreakers>

/** Told of everything that happens to a breaker, after it has. */
export type BreakerChanged = (at: BreakerOf, before: Breaker, after: Breaker) => void
type Options = { readonly random?: () => number; readonly changed?: BreakerChanged }

/**
 * @param now milliseconds since the epoch
 * @param random from 0 to 1, by which doubled pauses differ
 */
export function createBreakers(now: () => number, { random = () => 0, changed = () => undefined }: Options = {}) {
  /** By processor, then by host. One that is closed and has seen no failure is not kept. */
  const kept = new Map<ProcessorName, Map<string, Breaker>>()
  let version = 0

  const of = ({ processor, host }: BreakerOf): Breaker => kept.get(processor)?.get(host) ?? closed

  function set(at: BreakerOf, before: Breaker, after: Breaker): void {
    if (after === before) return
    if (lets(after) !== lets(before)) version++
    const hosts = kept.getOrInsertComputed(at.processor, () => new Map<string, Breaker>())
    // The one that something happened to comes last.
    hosts.delete(at.host)
    if (after !== closed) hosts.set(at.host, after)
    if (hosts.size > hostsMax) forgetOne(hosts)
    changed(at, before, after)
  }

  /** The one of which nothing was heard for the longest; first, one that only counts. Never the newest: it would never get to count. */
  function forgetOne(hosts: Map<string, Breaker>): void {
    const all = [...hosts].slice(0, -1)
    const [oldest] = all.find(([, breaker]) => lets(breaker)) ?? all[0] ?? []
    if (oldest === undefined) return
    if (!lets(hosts.get(oldest) ?? closed)) version++
    hosts.delete(oldest)
  }

  return {
    of,
    /** Raised whenever calls to somebody begin or cease to pass. */
    version: () => version,
    /** Whether calls pass. */
    passes: (at: BreakerOf): boolean => lets(of(at)),
    /** A call was answered, whatever the answer was: a decline, a refusal, a wrong key. */
    answered: (at: BreakerOf): void => set(at, of(at), succeeded(of(at))),
    /** A call was not answered: a time-out, the network, a fault of the other side (5xx). */
    failed: (at: BreakerOf): void => set(at, of(at), failed(of(at), now())),
    /** Takes the probe that is due; false: none is, or somebody is at it. */
    beginProbe(at: BreakerOf): boolean {
      const before = of(at)
      const after = probing(before, now())
      set(at, before, after)
      return after !== before
    },
    /** What a probe came to. */
    probed: (at: BreakerOf, wasAnswered: boolean): void => set(at, of(at), probed(of(at), wasAnswered, now(), random())),
    /** What another process says of it. */
    take: (at: BreakerOf, breaker: Breaker): void => set(at, of(at), breaker),
    /** Those that are to be probed by now. */
    due: (): BreakerOf[] => all().filter(({ breaker }) => isToProbe(breaker, now())),
    all,
  }

  /** Those of which there is something to say. */
  function all(): (BreakerOf & { breaker: Breaker })[] {
    return [...kept].flatMap(([processor, hosts]) => [...hosts].map(([host, breaker]) => ({ processor, host, breaker })))
  }
}
