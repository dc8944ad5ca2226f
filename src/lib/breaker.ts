/**
 * A circuit breaker, as values: what it is after something has happened. Calls pass while it is closed. So many failures in a row open
 * it, and then nothing but a probe, sent in the background after a pause, closes it again; each probe that fails doubles the pause. To
 * a pause that was doubled comes a random part, of a tenth at most, so that not all processes probe at once.
 */

/** Failures in a row that open it (contract, section 5). */
export const failuresMax = 5
const pauseMs = 30_000
const pauseMaxMs = 10 * 60_000
const randomPart = 0.1
/** For whoever probes and never says what came of it. */
const probeMs = 60_000

export type Breaker =
  | { readonly state: 'CLOSED'; readonly failures: number }
  | { readonly state: 'OPEN'; readonly since: number; readonly pauseMs: number; readonly probeAt: number }
  /** A probe is under way. */
  | { readonly state: 'HALF_OPEN'; readonly since: number; readonly pauseMs: number; readonly until: number }

export const closed: Breaker = { state: 'CLOSED', failures: 0 }

/** After a call that was answered, whatever the answer was. One that was sent before it opened says nothing of now. */
export const succeeded = (breaker: Breaker): Breaker => (breaker.state === 'CLOSED' ? closed : breaker)

/** After a call that was not: a time-out, the network, a fault of the other side. */
export function failed(breaker: Breaker, now: number): Breaker {
  if (breaker.state !== 'CLOSED') return breaker
  const failures = breaker.failures + 1
  return failures < failuresMax ? { state: 'CLOSED', failures } : { state: 'OPEN', since: now, pauseMs, probeAt: now + pauseMs }
}

/** Whether it is time to probe. */
export const isToProbe = (breaker: Breaker, now: number): boolean =>
  (breaker.state === 'OPEN' && breaker.probeAt <= now) || (breaker.state === 'HALF_OPEN' && breaker.until <= now)

/** While one probe is under way there is no other. */
export const probing = (breaker: Breaker, now: number): Breaker =>
  breaker.state !== 'CLOSED' && isToProbe(breaker, now)
    ? { state: 'HALF_OPEN', since: breaker.since, pauseMs: breaker.pauseMs, until: now + probeMs }
    : breaker

/**
 * After a probe.
 * @param random from 0 to 1
 */
export function probed(breaker: Breaker, wasAnswered: boolean, now: number, random = 0): Breaker {
  if (breaker.state !== 'HALF_OPEN') return breaker
  if (wasAnswered) return closed
  const longer = Math.min(breaker.pauseMs * 2, pauseMaxMs)
  return { state: 'OPEN', since: breaker.since, pauseMs: longer, probeAt: now + Math.round(longer * (1 + randomPart * random)) }
}

/** Whether calls pass. */
export const lets = ({ state }: Breaker): boolean => state === 'CLOSED'
