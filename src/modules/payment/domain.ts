import type { payments } from '../../../db/schema/selling.ts'
import { moneyOf } from '../../lib/money.ts'
import { isoTimes, pick } from '../../lib/records.ts'
import { type OpenStateOf, reachable, statesOf, type Transitions } from '../../lib/transitions.ts'

export type Payment = typeof payments.$inferSelect
export type PaymentStatus = Payment['status']

/** What may become of a payment. A capture that reaches one that has ended is noted on it and refunded; it stays ended. */
export const paymentTransitions = reachable('PENDING', {
  PENDING: ['REQUIRES_ACTION', 'AUTHORIZED', 'CAPTURED', 'FAILED', 'VOIDED'],
  REQUIRES_ACTION: ['AUTHORIZED', 'CAPTURED', 'FAILED', 'VOIDED'],
  AUTHORIZED: ['CAPTURED', 'FAILED', 'VOIDED'],
  CAPTURED: [],
  FAILED: [],
  VOIDED: [],
} as const satisfies Transitions<PaymentStatus>)

export const paymentStatuses = statesOf(paymentTransitions)
type OpenPaymentStatus = OpenStateOf<typeof paymentTransitions>

/** Whether the processor may still take money by itself or for us. */
export const isUnderWay = <Of extends Pick<Payment, 'status'>>(payment: Of): payment is Of & { status: OpenPaymentStatus } =>
  paymentTransitions[payment.status].length > 0

/** The statuses of payments that are under way. */
export const openPaymentStatuses = paymentStatuses.filter((status): status is OpenPaymentStatus => isUnderWay({ status }))

/** Ended without money; what was captured is no business of this. */
export const hasFailed = ({ status }: Pick<Payment, 'status'>): boolean => status === 'FAILED' || status === 'VOIDED'

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
