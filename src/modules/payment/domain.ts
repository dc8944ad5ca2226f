import type { payments } from '../../../db/schema/selling.ts'
import { moneyOf } from '../../lib/money.ts'
import { isoTimes, pick } from '../../lib/records.ts'
import { reachable, statesOf, type Transitions } from '../../lib/transitions.ts'

export type Payment = typeof payments.$inferSelect
export type PaymentStatus = Payment['status']

/**
 * What may become of a payment. One that has failed may be paid after all: the shopper tries again on the same page, and its processor
 * takes the money by itself or holds it for us to take. Where its order waits no more, what was captured is noted on it and refunded;
 * it stays ended.
 */
export const paymentTransitions = reachable('PENDING', {
  PENDING: ['REQUIRES_ACTION', 'AUTHORIZED', 'CAPTURED', 'FAILED', 'VOIDED'],
  REQUIRES_ACTION: ['AUTHORIZED', 'CAPTURED', 'FAILED', 'VOIDED'],
  AUTHORIZED: ['CAPTURED', 'FAILED', 'VOIDED'],
  CAPTURED: [],
  FAILED: ['AUTHORIZED', 'CAPTURED'],
  VOIDED: ['CAPTURED'],
} as const satisfies Transitions<PaymentStatus>)

export const paymentStatuses = statesOf(paymentTransitions)
type OpenPaymentStatus = 'PENDING' | 'REQUIRES_ACTION' | 'AUTHORIZED'

/** Ended without money; what was captured is no business of this. */
export const hasFailed = ({ status }: Pick<Payment, 'status'>): boolean => status === 'FAILED' || status === 'VOIDED'

/** Whether the processor may still take money by itself or for us. */
export const isUnderWay = <Of extends Pick<Payment, 'status'>>(payment: Of): payment is Of & { status: OpenPaymentStatus } =>
  payment.status !== 'CAPTURED' && !hasFailed(payment)

/** Whether what its processor says moves a payment on from where it stands. */
export const movesOn = (from: PaymentStatus, to: PaymentStatus): boolean =>
  (paymentTransitions[from] as readonly PaymentStatus[]).includes(to)

/** The statuses of payments that are under way. */
export const openPaymentStatuses = paymentStatuses.filter((status): status is OpenPaymentStatus => isUnderWay({ status }))

/** Whether all of it was captured although it had ended before. */
export const hasPaid = (payment: Pick<Payment, 'status' | 'captured' | 'amount'>): boolean =>
  hasFailed(payment) && payment.captured >= payment.amount

export const paymentMethods = ['card', 'paypal', 'crypto', 'wallet'] as const
/** The processor of shops in mode TEST, unless the checkout names another. */
export const processorDefault = 'sandbox'

/** How a shopper means to pay. */
export type PaymentChoice = {
  method: Payment['method']
  processor: string
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
