import type { payments } from '../../../../db/schema/payments.ts'
import { moneyOf } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { reachable, statesOf, type Transitions } from '../../../lib/transitions.ts'

export type Payment = typeof payments.$inferSelect
export type PaymentStatus = Payment['status']

/**
 * What may become of a payment. One that has failed may be paid after all: the shopper tries again on the same page, and its processor
 * takes the money by itself or holds it for us to take. Where its order waits no more, what was captured is noted on it and refunded;
 * it stays ended. PROCESSING is asked for or seen, and not decided yet: an asynchronous capture, coins that are not confirmed.
 */
export const paymentTransitions = reachable('PENDING', {
  PENDING: ['REQUIRES_ACTION', 'AUTHORIZED', 'PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED'],
  REQUIRES_ACTION: ['AUTHORIZED', 'PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED'],
  AUTHORIZED: ['PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED'],
  // Authorized again: what it was asked to take, it did not.
  PROCESSING: ['AUTHORIZED', 'CAPTURED', 'FAILED', 'VOIDED'],
  CAPTURED: [],
  FAILED: ['AUTHORIZED', 'PROCESSING', 'CAPTURED'],
  VOIDED: ['CAPTURED'],
} as const satisfies Transitions<PaymentStatus>)

export const paymentStatuses = statesOf(paymentTransitions)
type OpenPaymentStatus = 'PENDING' | 'REQUIRES_ACTION' | 'AUTHORIZED' | 'PROCESSING'

/** Ended without money; what was captured is no business of this. */
export const hasFailed = ({ status }: Pick<Payment, 'status'>): boolean => status === 'FAILED' || status === 'VOIDED'

/** Whether the processor may still take money by itself or for us. */
export const isOpenPayment = <Of extends Pick<Payment, 'status'>>(payment: Of): payment is Of & { status: OpenPaymentStatus } =>
  payment.status !== 'CAPTURED' && !hasFailed(payment)

/** Whether it has ended, and there is nothing of it at its processor: it refused to begin it. */
export const isUnknownToProcessor = (payment: Pick<Payment, 'status' | 'processorReference' | 'askAt'>): boolean =>
  hasFailed(payment) && payment.processorReference === null && payment.askAt === null

/** A payment that ended without money is asked about for so long: what was given up, or refused, may be paid all the same. */
const sweepMs = 72 * 60 * 60_000
const sweepFirstMs = 10 * 60_000
const sweepPauseMaxMs = 12 * 60 * 60_000

/** When a payment that ended at `endedAt` is asked about next: ever more rarely, and not after 72 hours (contract, section 5). */
export function sweepAt(endedAt: number, now: number): number | null {
  const until = endedAt + sweepMs
  if (now >= until) return null
  return Math.min(until, now + Math.min(sweepPauseMaxMs, Math.max(sweepFirstMs, now - endedAt)))
}

/** While somebody waits, a payment's processor is asked once in so many milliseconds (contract, section 5). */
export const queryPauseMs = 2_000

/** Whether a payment's processor may be asked again for somebody who waits. A time ahead is that of a clock that has stepped back since. */
export const canBeQueried = ({ askedAt }: Pick<Payment, 'askedAt'>, now: number): boolean =>
  askedAt === null || askedAt > now || askedAt <= now - queryPauseMs

/** A payment whose processor does not say what became of it is asked about again after so long. */
export const silentMs = 10 * 60_000
/** For so long after the last question: whoever is still silent then is nobody any more. */
const silentGraceMs = 24 * 60 * 60_000

/** When a payment that ended at `endedAt`, and whose processor was silent at `now`, is asked about again; null: no more. */
export const sweepAgainAt = (endedAt: number, now: number): number | null =>
  now >= endedAt + sweepMs + silentGraceMs ? null : now + silentMs

/** Whether what its processor says moves a payment on from where it stands. */
export const canMoveTo = (from: PaymentStatus, to: PaymentStatus): boolean =>
  (paymentTransitions[from] as readonly PaymentStatus[]).includes(to)

/**
 * Whether nobody can know if its processor has begun a payment: the answer was lost, and it can neither be asked nor be told again. It is never
 * simply made again: two could be paid.
 */
export const isLost = (payment: Pick<Payment, 'status' | 'processorReference' | 'references'>): boolean =>
  payment.status === 'PROCESSING' && hasNoReferences(payment)

/** Whether its processor has told no name of a payment at all, by which it could be asked about. */
export const hasNoReferences = ({ processorReference, references }: Pick<Payment, 'processorReference' | 'references'>): boolean =>
  processorReference === null && Object.keys(references).length === 0

/** Whether something may still become of a payment by itself: it is under way, or ended without money lately enough to be asked about. */
export const isOpenOrWatched = (payment: Pick<Payment, 'status' | 'askAt'>): boolean => isOpenPayment(payment) || payment.askAt !== null

/** The statuses of payments that are under way. */
export const openPaymentStatuses = paymentStatuses.filter((status): status is OpenPaymentStatus => isOpenPayment({ status }))

/** Whether all of it was captured although it had ended before. */
export const isPaidAfterEnding = (payment: Pick<Payment, 'status' | 'captured' | 'amount'>): boolean =>
  hasFailed(payment) && payment.captured >= payment.amount

export const paymentMethods = ['card', 'paypal', 'crypto', 'wallet'] as const
/** The processor of shops in mode TEST, unless the checkout names another. */
export const processorDefault = 'sandbox'

/** How a shopper means to pay. */
export type PaymentChoice = {
  method: Payment['method']
  processor: string
  /** Of the account that it goes through for ever; empty: its processor has none. */
  accountId: string
  mode: Payment['mode']
  token: string | undefined
  returnUrl: string | undefined
  /** The idempotency key of the request, hashed. */
  attemptKey: string
}

/** What the sealed payment token of a checkout is bound to. */
export const paymentTokenSeal = (paymentId: string): string => `payment/${paymentId}`

/** A payment without what only its processor and the shopper's page may know. */
export const paymentView = (payment: Payment) => ({
  ...pick(payment, 'id', 'method', 'processor', 'processorReference'),
  ...moneyOf(payment, 'amount', 'authorized', 'captured', 'refunded'),
  ...pick(payment, 'status', 'failureCode'),
  ...isoTimes(pick(payment, 'createdAt', 'updatedAt')),
})
