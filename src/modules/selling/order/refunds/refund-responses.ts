import type { RefundAnswer } from '../../../../clients/processors/processor.ts'
import { dayMs, hourMs } from '../../../../lib/day.ts'
import { byHandCode, refundArrivesMs } from '../../../payments/payment/domain.ts'
import { backoffMs, mustBeReturned, type Refund } from '../domain.ts'

// Decides what follows from a processor's response to a refund. Pure functions.

/**
 * `notFound`: the processor does not know the refund, and a new call might make a second one. Undefined: no reliable
 * answer.
 */
export type RefundResponse = RefundAnswer | 'notFound' | undefined

/**
 * The next status of a refund. `again`: it failed at the bank and is retried with a new refund; `wait`: it is queried
 * later.
 */
export type RefundOutcome =
  | { readonly kind: 'SUCCEEDED' | 'CLAIMABLE' }
  | { readonly kind: 'MANUAL' | 'FAILED' | 'again'; readonly code: string }
  /** `refused`: the processor refused, and may accept later. */
  | { readonly kind: 'wait'; readonly refused?: string }

/** Refusals in a row after which owed money must be paid by hand. */
export const refusalsMax = 12
/** Failures at a bank after which owed money must be paid by hand. */
export const bankFailuresMax = 3
/** Codes of what a processor can never do: this kind of refund, or this amount. */
const notSupported: readonly (string | undefined)[] = ['refund_not_supported', 'amount_not_supported', byHandCode]
const isNotSupported = (code: string | undefined): boolean => notSupported.includes(code)

type RefundState = Pick<Refund, 'status' | 'purpose' | 'processorReference' | 'attempts' | 'failureCode' | 'sentAt' | 'createdAt'>

/**
 * Decides a refund's next status.
 * @param failedBefore refunds of the same money that failed at a bank before
 */
export function decideOutcome(
  refund: RefundState,
  response: RefundResponse,
  { now, failedBefore }: { now: number; failedBefore: number },
): RefundOutcome {
  if (response === undefined) return { kind: 'wait' }
  if (response === 'notFound') return outcomeOfNotFound(refund, now)
  const code = response.failureCode ?? 'refused'
  switch (refund.status) {
    case 'PENDING':
      if (response.state === 'PENDING') return { kind: 'wait' }
      return response.state === 'FAILED' ? outcomeOfFailure(refund, response, { code, failedBefore }) : { kind: response.state }
    case 'CLAIMABLE':
      if (response.state === 'SUCCEEDED') return { kind: 'SUCCEEDED' }
      // The claim expired, and the money is still owed.
      return response.state === 'FAILED' ? { kind: 'MANUAL', code } : { kind: 'wait' }
    case 'SUCCEEDED':
      // The shopper's bank returned it.
      return response.state === 'FAILED' ? { kind: 'MANUAL', code } : { kind: 'wait' }
    case 'FAILED':
    case 'MANUAL':
      return { kind: 'wait' }
  }
}

/** A reference shows that the refund was made and failed at a bank: a refused refund has none. */
function outcomeOfFailure(
  refund: RefundState,
  { reference }: RefundAnswer,
  { code, failedBefore }: { code: string; failedBefore: number },
): Exclude<RefundOutcome, { kind: 'SUCCEEDED' | 'CLAIMABLE' }> {
  if (reference === undefined && isNotSupported(code)) return { kind: 'MANUAL', code }
  if (!mustBeReturned(refund)) return { kind: 'FAILED', code }
  if (reference === undefined) return outcomeOfRefusal(refund, code)
  return failedBefore + 1 < bankFailuresMax ? { kind: 'again', code } : { kind: 'MANUAL', code }
}

function outcomeOfNotFound(refund: RefundState, now: number): RefundOutcome {
  if (refund.status !== 'PENDING' && refund.status !== 'CLAIMABLE') return { kind: 'wait' }
  // It had a reference: one answer does not prove that it is gone.
  if (refund.processorReference !== null) return outcomeOfRefusal(refund, 'not_found')
  return refund.status === 'PENDING' && now - (refund.sentAt ?? refund.createdAt) >= refundArrivesMs
    ? { kind: 'MANUAL', code: 'not_found' }
    : { kind: 'wait' }
}

const outcomeOfRefusal = (refund: RefundState, code: string): Exclude<RefundOutcome, { kind: 'SUCCEEDED' | 'CLAIMABLE' }> =>
  refusalsOf(refund) + 1 < refusalsMax ? { kind: 'wait', refused: code } : { kind: 'MANUAL', code }

/** Counts the refusals in a row: silence does not count, another answer ends the row. */
const refusalsOf = ({ failureCode, attempts }: Pick<Refund, 'failureCode' | 'attempts'>): number => (failureCode === null ? 0 : attempts)

/** Returns the fields of a refund that is queried later. */
export function waitingFields(
  refund: RefundState & Pick<Refund, 'updatedAt'>,
  { response, refused, now }: { response: RefundResponse; refused?: string | undefined; now: number },
): Pick<Refund, 'attempts' | 'failureCode' | 'resumeAt'> {
  const { status, attempts, failureCode } = refund
  if (status === 'SUCCEEDED') return { attempts, failureCode, resumeAt: nextWatchAt(refund.updatedAt, now) }
  const counted = countAttempt(refund, response, refused)
  const resumeAt = status === 'CLAIMABLE' ? nextClaimQueryAt(refund.createdAt, now) : now + backoffMs(counted.attempts)
  return { ...counted, resumeAt }
}

function countAttempt(
  refund: RefundState,
  response: RefundResponse,
  refused: string | undefined,
): Pick<Refund, 'attempts' | 'failureCode'> {
  if (refused !== undefined) return { attempts: refusalsOf(refund) + 1, failureCode: refused }
  const isSilent = response === undefined || response === 'notFound'
  if (isSilent && refund.failureCode !== null) return { attempts: refund.attempts, failureCode: refund.failureCode }
  return { attempts: refund.attempts + 1, failureCode: null }
}

/** Returns when a claim is queried next: after an hour at first, then with growing pauses up to a day. */
export const nextClaimQueryAt = (createdAt: number, now: number): number => now + Math.min(dayMs, Math.max(hourMs, now - createdAt))

const watchMs = 7 * dayMs

/** Returns when a refund that succeeded at `since` is queried again, in case it fails: daily for a week; then null. */
export const nextWatchAt = (since: number, now: number): number | null => (now + dayMs <= since + watchMs ? now + dayMs : null)

/**
 * Returns the refunded money that no refund here explains, in minor units. Failed refunds with a reference, and those
 * paid by hand, may be part of what the processor reports, so doubtful money is not counted twice.
 */
export function unaccountedAmount(
  { id }: { readonly id: string },
  refunds: readonly Pick<Refund, 'paymentId' | 'status' | 'amount' | 'processorReference'>[],
  refunded: number,
): number {
  const recorded = refunds.filter(
    ({ paymentId, status, processorReference }) =>
      paymentId === id && (status === 'SUCCEEDED' || (status !== 'PENDING' && processorReference !== null)),
  )
  return Math.max(0, refunded - recorded.reduce((sum, { amount }) => sum + amount, 0))
}
