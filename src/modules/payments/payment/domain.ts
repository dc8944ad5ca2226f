import type { payments } from '../../../../db/schema/payments.ts'
import { moneyOf } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { assertReachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import type { ManualMethod } from '../payment-method/domain.ts'

export type Payment = typeof payments.$inferSelect
export type PaymentStatus = Payment['status']

/**
 * The transitions of a payment. A failed one may still be paid: the shopper retries on the same page, and its
 * processor captures or authorizes the money. If its order no longer waits, the capture is recorded and refunded, and
 * the payment stays ended. PROCESSING is undecided: an asynchronous capture, or unconfirmed coins.
 */
export const paymentTransitions = assertReachable('PENDING', {
  PENDING: ['REQUIRES_ACTION', 'AUTHORIZED', 'PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED'],
  REQUIRES_ACTION: ['AUTHORIZED', 'PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED'],
  AUTHORIZED: ['PROCESSING', 'CAPTURED', 'FAILED', 'VOIDED'],
  // AUTHORIZED again: the requested capture did not happen.
  PROCESSING: ['AUTHORIZED', 'CAPTURED', 'FAILED', 'VOIDED'],
  CAPTURED: [],
  FAILED: ['AUTHORIZED', 'PROCESSING', 'CAPTURED'],
  VOIDED: ['CAPTURED'],
} as const satisfies Transitions<PaymentStatus>)

export const paymentStatuses = statesOf(paymentTransitions)
type OpenPaymentStatus = 'PENDING' | 'REQUIRES_ACTION' | 'AUTHORIZED' | 'PROCESSING'

/** Returns whether a payment ended without paying its order. It may still have captured money. */
export const hasFailed = ({ status }: Pick<Payment, 'status'>): boolean => status === 'FAILED' || status === 'VOIDED'

/** Returns whether the processor may still capture money, by itself or for us. */
export const isOpenPayment = <Of extends Pick<Payment, 'status'>>(payment: Of): payment is Of & { status: OpenPaymentStatus } =>
  payment.status !== 'CAPTURED' && !hasFailed(payment)

/** Returns whether a payment has ended and its processor has no trace of it: it refused to start it. */
export const isUnknownToProcessor = (payment: Pick<Payment, 'status' | 'processorReference' | 'askAt'>): boolean =>
  hasFailed(payment) && payment.processorReference === null && payment.askAt === null

/** How long a payment that ended without money is watched: a voided or declined one may be captured later. */
const sweepMs = 72 * 60 * 60_000
const sweepFirstMs = 10 * 60_000
const sweepPauseMaxMs = 12 * 60 * 60_000

/**
 * Returns when a payment that ended at `endedAt` is queried next: with growing pauses, and not after 72 hours.
 */
export function sweepAt(endedAt: number, now: number): number | null {
  const until = endedAt + sweepMs
  if (now >= until) return null
  return Math.min(until, now + Math.min(sweepPauseMaxMs, Math.max(sweepFirstMs, now - endedAt)))
}

/** The least time between two queries of a payment for waiting callers, in milliseconds. */
export const queryPauseMs = 2_000

/**
 * Returns whether a payment may be queried for a waiting caller. A future `askedAt` comes from a clock that was set
 * back.
 */
export const canBeQueried = ({ askedAt }: Pick<Payment, 'askedAt'>, now: number): boolean =>
  askedAt === null || askedAt > now || askedAt <= now - queryPauseMs

/** The pause after a query without an answer. */
export const unansweredMs = 10 * 60_000
/** How long after the last query an unanswered one is repeated. */
const unansweredGraceMs = 24 * 60 * 60_000

/** Returns when a payment that ended at `endedAt` is queried again after silence at `now`; null: no more. */
export const sweepAgainAt = (endedAt: number, now: number): number | null =>
  now >= endedAt + sweepMs + unansweredGraceMs ? null : now + unansweredMs

/** Returns whether a payment's status may change from one to the other. */
export const canMoveTo = (from: PaymentStatus, to: PaymentStatus): boolean =>
  (paymentTransitions[from] as readonly PaymentStatus[]).includes(to)

/**
 * Returns whether it cannot be known if the processor started a payment: the answer was lost, and the payment can be
 * neither queried nor created again. A second one could be paid too.
 */
export const isLost = (payment: Pick<Payment, 'status' | 'processorReference' | 'references'>): boolean =>
  payment.status === 'PROCESSING' && hasNoReferences(payment)

/** Returns whether the processor has given no reference by which a payment can be queried. */
export const hasNoReferences = ({ processorReference, references }: Pick<Payment, 'processorReference' | 'references'>): boolean =>
  processorReference === null && Object.keys(references).length === 0

/** Returns whether a payment may still change by itself: it is open, or ended without money and is watched. */
export const isOpenOrWatched = (payment: Pick<Payment, 'status' | 'askAt'>): boolean => isOpenPayment(payment) || payment.askAt !== null

/** The statuses of open payments. */
export const openPaymentStatuses = paymentStatuses.filter((status): status is OpenPaymentStatus => isOpenPayment({ status }))

/** Returns whether a payment was captured in full after it had ended. */
export const isPaidAfterEnding = (payment: Pick<Payment, 'status' | 'captured' | 'amount'>): boolean =>
  hasFailed(payment) && payment.captured >= payment.amount

export const paymentMethods = ['card', 'paypal', 'crypto', 'wallet', 'manual'] as const
/** What stands for a processor in a payment that the shop receives outside souk. Nothing is called. */
export const manualProcessor = 'manual'

/** The failure code of a refund that the shop pays by hand, because the payment came by hand. */
export const byHandCode = 'paid_by_hand'
/** After this time a refund request whose answer was lost certainly arrives no more. */
export const refundArrivesMs = 60 * 60_000

/** Returns whether the shop receives a payment outside souk. It stays PENDING until it is marked as paid or voided. */
export const isManualPayment = ({ processor }: Pick<Payment, 'processor'>): boolean => processor === manualProcessor

/** What a manual payment keeps of its method, as it was at the checkout. */
export type ManualTerms = Pick<ManualMethod, 'code' | 'title' | 'instructions'>

/** Returns the terms of a manual payment; undefined for another one, and once they are erased or the payment ended. */
export function manualTermsOf({ processor, clientParameters }: Pick<Payment, 'processor' | 'clientParameters'>): ManualTerms | undefined {
  const { code, title, instructions } = clientParameters
  const isComplete = typeof code === 'string' && typeof title === 'string' && typeof instructions === 'string'
  return isManualPayment({ processor }) && isComplete ? { code, title, instructions } : undefined
}

/** The processor of shops in mode TEST, unless the checkout names another. */
export const processorDefault = 'sandbox'

/** A processor and account that take a payment. */
export type PaymentChoice = {
  method: Payment['method']
  processor: string
  /** The account that the payment goes through; empty for a processor without accounts. */
  accountId: string
  mode: Payment['mode']
  token: string | undefined
  returnUrl: string | undefined
  /** The idempotency key of the request, hashed. */
  attemptKey: string
  manual?: ManualMethod
}

/** Returns the context that a sealed payment token is bound to. */
export const paymentTokenSeal = (paymentId: string): string => `payment/${paymentId}`

/** Returns a payment without what only its processor and the shopper's page may know. */
export const paymentView = (payment: Payment) => ({
  ...pick(payment, 'id', 'method', 'processor'),
  processorReference: payment.processorReference ?? (isManualPayment(payment) ? (payment.references['manual'] ?? null) : null),
  manual: manualTermsOf(payment) ?? null,
  ...moneyOf(payment, 'amount', 'authorized', 'captured', 'refunded'),
  ...pick(payment, 'status', 'failureCode'),
  ...isoTimes(pick(payment, 'createdAt', 'updatedAt')),
})
