/** Reads Stripe's payment intents, refunds and events. */
import { createHash, createHmac } from 'node:crypto'
import { sameSecret } from '../../../lib/seal.ts'
import { countAt, meaningOf, parsedMessage, requireValue, textAt, valueAt, wordOf } from '../answers.ts'
import type { PaymentState, ProcessorMessage, ProcessorPayment, RefundAnswer } from '../processor.ts'
import { BadSignature, UnknownAnswer } from '../processor.ts'
import { minorUnits } from './amounts.ts'

type Amount = { readonly amount: number; readonly currency: string }

/** The state of two of them depends on more: see `stateOf`. */
const states: Readonly<Record<string, PaymentState>> = {
  requires_payment_method: 'REQUIRES_ACTION',
  requires_confirmation: 'REQUIRES_ACTION',
  requires_action: 'REQUIRES_ACTION',
  processing: 'PROCESSING',
  requires_capture: 'AUTHORIZED',
  succeeded: 'CAPTURED',
  canceled: 'VOIDED',
}

/**
 * Reads a payment intent as a payment. An intent in another currency, or of another payment, is an invalid answer. If
 * another amount was captured, `captured` states it, and the payment is PROCESSING, not CAPTURED.
 * @param expected the expected amount
 * @throws ProcessorUnavailable for an invalid answer
 */
export function paymentOf(
  intent: unknown,
  { paymentId, expected, publishableKey }: { paymentId: string; expected: Amount; publishableKey: string | undefined },
): ProcessorPayment {
  const reference = intentOf(intent, paymentId)
  if (textAt(intent, 'currency')?.toUpperCase() !== expected.currency) throw new UnknownAnswer('another currency')
  const units = (...path: string[]) => minorUnits(countAt(intent, ...path), expected.currency)
  const status = textAt(intent, 'status') ?? ''
  const state = stateOf(intent, status)
  const captured = state === 'CAPTURED' ? requireValue(units('amount_received'), 'amount_received') : 0
  const authorized = state === 'AUTHORIZED' ? requireValue(units('amount_capturable'), 'amount_capturable') : captured
  const differs = state === 'CAPTURED' && captured !== expected.amount
  const refunded = units('latest_charge', 'amount_refunded')
  const failureCode = differs ? 'amount_differs' : failureOf(intent, state)
  return {
    reference,
    state: differs ? 'PROCESSING' : state,
    authorized,
    captured,
    ...(refunded === undefined ? {} : { refunded }),
    ...(failureCode === undefined ? {} : { failureCode }),
    ...(state === 'REQUIRES_ACTION' ? { clientParameters: clientParametersOf(intent, publishableKey) } : {}),
  }
}

/**
 * Returns the id of a payment intent.
 * @throws UnknownAnswer if its metadata names another payment
 */
function intentOf(intent: unknown, paymentId: string): string {
  if (textAt(intent, 'object') !== 'payment_intent') throw new UnknownAnswer('no payment intent')
  const statedPaymentId = textAt(intent, 'metadata', 'payment_id')
  if (statedPaymentId !== undefined && statedPaymentId !== paymentId) throw new UnknownAnswer('another payment')
  return requireValue(textAt(intent, 'id'), 'id')
}

/** A declined intent waits for another card. Only its last error distinguishes it from a new one. */
const stateOf = (intent: unknown, status: string): PaymentState =>
  status === 'requires_payment_method' && (valueAt(intent, 'last_payment_error') ?? undefined) !== undefined
    ? 'FAILED'
    : meaningOf(states, status)

const failureOf = (intent: unknown, state: PaymentState): string | undefined =>
  state === 'FAILED'
    ? (declineOf(valueAt(intent, 'last_payment_error')) ?? 'declined')
    : state === 'VOIDED'
      ? wordOf(textAt(intent, 'cancellation_reason'))
      : undefined

/**
 * Returns Stripe's code of a failure, the issuer's first: `insufficient_funds` is more precise than `card_declined`.
 */
export const declineOf = (error: unknown): string | undefined =>
  wordOf(textAt(error, 'decline_code'), textAt(error, 'code'), textAt(error, 'type'))

/** The parameters of Stripe.js, and a redirect decided without it. */
function clientParametersOf(intent: unknown, publishableKey: string | undefined): Record<string, string> {
  const redirectUrl = textAt(intent, 'next_action', 'redirect_to_url', 'url')
  return {
    clientSecret: requireValue(textAt(intent, 'client_secret'), 'client_secret'),
    ...(publishableKey === undefined ? {} : { publishableKey }),
    ...(redirectUrl !== undefined && /^https?:\/\//.test(redirectUrl) ? { redirectUrl } : {}),
  }
}

const refundStates: Readonly<Record<string, RefundAnswer['state']>> = {
  pending: 'PENDING',
  // The shopper must give bank details, which Stripe requests by mail.
  requires_action: 'PENDING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  canceled: 'FAILED',
}

/**
 * Reads a refund.
 * @throws ProcessorUnavailable for anything else, or another amount, currency or id of ours
 */
export function refundOf(refund: unknown, { refundId, expected }: { refundId: string; expected: Amount }): RefundAnswer {
  if (textAt(refund, 'object') !== 'refund') throw new UnknownAnswer('no refund')
  const isOurs = (textAt(refund, 'metadata', 'refund_id') ?? refundId) === refundId
  const isSame = textAt(refund, 'currency')?.toUpperCase() === expected.currency
  const amount = isSame ? minorUnits(countAt(refund, 'amount'), expected.currency) : undefined
  if (!isOurs || amount !== expected.amount) throw new UnknownAnswer('another refund')
  const status = textAt(refund, 'status') ?? ''
  const state = meaningOf(refundStates, status)
  const failureCode = state === 'FAILED' ? (wordOf(textAt(refund, 'failure_reason')) ?? status) : undefined
  return { reference: requireValue(textAt(refund, 'id'), 'id'), state, ...(failureCode === undefined ? {} : { failureCode }) }
}

/** The maximum age of a signature. A future time is accepted, as in Stripe's own libraries. */
const toleranceSeconds = 300

/**
 * Checks `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>]`. One matching signature suffices, since secrets overlap
 * while they rotate.
 * @param now milliseconds
 * @throws BadSignature, also for a blank secret
 */
export function verifyStripeSignature(body: Uint8Array, header: string | null, { secret, now }: { secret: string; now: number }): void {
  if (secret.trim() === '') throw new BadSignature('stripe: no secret')
  const items = (header ?? '').split(',').map((item) => item.split('='))
  const valuesOf = (name: string) => items.flatMap(([key, value]) => (key === name && value !== undefined ? [value] : []))
  const time = valuesOf('t').at(-1) ?? ''
  if (!/^\d{1,12}$/.test(time)) throw new BadSignature('stripe: no time')
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')
  // All are compared, so that the time does not reveal which one matches.
  if (valuesOf('v1').filter((signature) => sameSecret(signature, expected)).length === 0) throw new BadSignature('stripe')
  if (Math.floor(now / 1000) - Number(time) > toleranceSeconds) throw new BadSignature('stripe: too old')
}

/** Reads a verified event. */
export function messageOf(body: Uint8Array): ProcessorMessage {
  const event = parsedMessage(body)
  const id = textAt(event, 'id') ?? `sha256:${createHash('sha256').update(body).digest('hex')}`
  const object = valueAt(event, 'data', 'object')
  const kind = textAt(object, 'object')
  // Charges, refunds and disputes name their payment intent by its id or expanded.
  const reference =
    kind === 'payment_intent' ? textAt(object, 'id') : (textAt(object, 'payment_intent') ?? textAt(object, 'payment_intent', 'id'))
  if (reference === undefined) return { id, payment: undefined }
  const paymentId = kind === 'payment_intent' ? textAt(object, 'metadata', 'payment_id') : undefined
  const dispute = kind === 'dispute' ? disputeOf(object) : undefined
  return { id, payment: { paymentId, reference }, ...(dispute === undefined ? {} : { dispute }) }
}

const disputeStates: Readonly<Record<string, 'OPEN' | 'WON' | 'LOST'>> = {
  needs_response: 'OPEN',
  under_review: 'OPEN',
  appeal_needs_response: 'OPEN',
  appeal_under_review: 'OPEN',
  won: 'WON',
  lost: 'LOST',
}

/**
 * Undefined for inquiries (`warning_…`) and prevented disputes: no money has moved. Another message follows if it
 * does.
 */
function disputeOf(object: unknown): ProcessorMessage['dispute'] {
  const [reference, status = ''] = [textAt(object, 'id'), textAt(object, 'status')]
  const currency = textAt(object, 'currency')?.toUpperCase() ?? ''
  const amount = minorUnits(countAt(object, 'amount'), currency)
  const state = Object.hasOwn(disputeStates, status) ? disputeStates[status] : undefined
  return reference === undefined || amount === undefined || state === undefined ? undefined : { reference, amount, currency, state }
}
