/**
 * A circuit breaker as immutable values. Calls pass while it is closed. Five failures in a row open it; only a
 * successful background probe closes it again. Each failed probe doubles the pause, plus up to 10 % at random so that
 * processes do not probe at once.
 */

/** Failures in a row that open the breaker. */
export const failuresMax = 5
const pauseMs = 30_000
const pauseMaxMs = 10 * 60_000
const randomPart = 0.1
/** Time after which a probe without a result is abandoned. */
const probeMs = 60_000

/** The state of a breaker. Times and durations are milliseconds. */
export type Breaker =
  | { readonly state: 'CLOSED'; readonly failures: number }
  | { readonly state: 'OPEN'; readonly since: number; readonly pauseMs: number; readonly probeAt: number }
  /** A probe is running. */
  | { readonly state: 'HALF_OPEN'; readonly since: number; readonly pauseMs: number; readonly until: number }

export const closedBreaker: Breaker = { state: 'CLOSED', failures: 0 }

/** Returns the state after a call with any response. An open breaker stays open, because the call began before. */
export const afterSuccess = (breaker: Breaker): Breaker => (breaker.state === 'CLOSED' ? closedBreaker : breaker)

/** Returns the state after a failed call: a timeout, a network error, or a fault of the service. */
export function afterFailure(breaker: Breaker, now: number): Breaker {
  if (breaker.state !== 'CLOSED') return breaker
  const failures = breaker.failures + 1
  return failures < failuresMax ? { state: 'CLOSED', failures } : { state: 'OPEN', since: now, pauseMs, probeAt: now + pauseMs }
}

/** Returns whether a probe may start: the pause is over, or the running probe exceeded its time limit. */
export const isProbeDue = (breaker: Breaker, now: number): boolean =>
  (breaker.state === 'OPEN' && breaker.probeAt <= now) || (breaker.state === 'HALF_OPEN' && breaker.until <= now)

/** Returns the state while a probe runs, so that no second one starts. */
export const startProbe = (breaker: Breaker, now: number): Breaker =>
  breaker.state !== 'CLOSED' && isProbeDue(breaker, now)
    ? { state: 'HALF_OPEN', since: breaker.since, pauseMs: breaker.pauseMs, until: now + probeMs }
    : breaker

/**
 * Returns the state after a probe.
 * @param random 0 to 1
 */
export function afterProbe(breaker: Breaker, wasAnswered: boolean, now: number, random = 0): Breaker {
  if (breaker.state !== 'HALF_OPEN') return breaker
  if (wasAnswered) return closedBreaker
  const longer = Math.min(breaker.pauseMs * 2, pauseMaxMs)
  return { state: 'OPEN', since: breaker.since, pauseMs: longer, probeAt: now + Math.round(longer * (1 + randomPart * random)) }
}

/** Returns whether calls pass. */
export const isClosed = ({ state }: Breaker): boolean => state === 'CLOSED'
