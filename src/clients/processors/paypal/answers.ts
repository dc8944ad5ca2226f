/** Reads PayPal's orders with their authorizations, captures and refunds, and events. */
import { listAt, meaningOf, requireValue, textAt, valueAt, wordOf } from '../answers.ts'
import type { ProcessorMessage, ProcessorPayment, References, RefundAnswer } from '../processor.ts'
import { UnknownAnswer } from '../processor.ts'
import { minorUnitsIn } from './amounts.ts'

type Amount = { readonly amount: number; readonly currency: string }
type Money = { readonly id: string; readonly status: string; readonly amount: number }
export type Order = {
  readonly id: string
  readonly status: string
  readonly approveUrl: string | undefined
  /** The active one, if there are several. */
  readonly authorization: Money | undefined
  readonly captures: readonly Money[]
  readonly refunds: readonly unknown[]
  readonly refunded: number
}

const deadAuthorizations = ['VOIDED', 'DENIED']
/** Refunded money was captured before. */
const capturedStatuses = ['COMPLETED', 'PARTIALLY_REFUNDED', 'REFUNDED']
const toApprove = ['CREATED', 'SAVED', 'PAYER_ACTION_REQUIRED', 'APPROVED']

/**
 * Reads an order.
 * @param total its required amount; undefined if unknown
 * @throws ProcessorUnavailable for an invalid order, and another payment, amount or currency in any of its parts
 */
export function orderOf(
  json: unknown,
  { paymentId, currency, total }: { paymentId: string; currency: string; total: number | undefined },
): Order {
  const unit = valueAt(json, 'purchase_units', 0)
  if ((textAt(unit, 'custom_id') ?? paymentId) !== paymentId) throw new UnknownAnswer('another payment')
  const amount = minorUnitsIn(valueAt(unit, 'amount'), currency)
  if (amount === undefined || amount !== (total ?? amount)) throw new UnknownAnswer('another amount')
  const all = (kind: string) => listAt(unit, 'payments', kind).map((one) => sumIn(one, currency))
  const authorizations = all('authorizations')
  const refunds = all('refunds')
  return {
    id: requireValue(textAt(json, 'id'), 'id'),
    status: requireValue(textAt(json, 'status'), 'status'),
    approveUrl: linkOf(json, 'payer-action') ?? linkOf(json, 'approve'),
    authorization: authorizations.find(({ status }) => !deadAuthorizations.includes(status)) ?? authorizations.at(-1),
    captures: all('captures'),
    refunds: listAt(unit, 'payments', 'refunds'),
    refunded: sumOf(refunds.filter(({ status }) => status === 'COMPLETED')),
  }
}

/**
 * Reads an authorization, a capture or a refund.
 * @throws ProcessorUnavailable if it is invalid or in another currency
 */
export const sumIn = (one: unknown, currency: string): Money => ({
  id: requireValue(textAt(one, 'id'), 'id'),
  status: requireValue(textAt(one, 'status'), 'status'),
  amount: requireValue(minorUnitsIn(valueAt(one, 'amount'), currency), 'amount'),
})

const sumOf = (money: readonly Money[]): number => money.reduce((sum, { amount }) => sum + amount, 0)

function linkOf(json: unknown, rel: string): string | undefined {
  const href = textAt(
    listAt(json, 'links').find((link) => textAt(link, 'rel') === rel),
    'href',
  )
  return href !== undefined && /^https?:\/\//.test(href) ? href : undefined
}

/** Returns the capture that refunds belong to. */
export const captureIn = ({ captures }: Order): string | undefined => captures.find(({ status }) => capturedStatuses.includes(status))?.id

/**
 * Converts an order to a payment. A captured amount other than the requested one is reported as it is, and the payment
 * is PROCESSING, not CAPTURED.
 */
export function paymentOf(order: Order, { expected, clientId }: { expected: Amount; clientId: string }): ProcessorPayment {
  const { authorization, captures } = order
  const captured = sumOf(captures.filter(({ status }) => capturedStatuses.includes(status)))
  const current = captures.length > 0 && captured > 0 ? captureStateOf(captured, expected) : stateWithoutCapture(order)
  const authorized = current.state === 'AUTHORIZED' ? (authorization?.amount ?? 0) : captured
  const capture = captureIn(order) ?? captures.at(-1)?.id
  const references = referencesOf(authorization?.id, capture)
  return {
    reference: order.id,
    ...(references === undefined ? {} : { references }),
    ...current,
    authorized,
    captured,
    refunded: order.refunded,
    ...(current.state === 'REQUIRES_ACTION' ? { clientParameters: clientParametersOf(order, clientId) } : {}),
  }
}

type StateAndFailure = Pick<ProcessorPayment, 'state' | 'failureCode'>

const captureStateOf = (captured: number, { amount }: Amount): StateAndFailure =>
  captured === amount ? { state: 'CAPTURED' } : { state: 'PROCESSING', failureCode: 'amount_differs' }

/** The state of a payment without a capture. */
function stateWithoutCapture({ status, authorization, captures }: Order): StateAndFailure {
  const capture = captures.at(-1)
  if (capture) return neededIn(captureStates, capture.status)
  if (authorization) return neededIn(authorizationStates, authorization.status)
  if (toApprove.includes(status)) return { state: 'REQUIRES_ACTION' }
  return neededIn({ VOIDED: { state: 'VOIDED' } }, status)
}

const captureStates: Readonly<Record<string, StateAndFailure>> = {
  PENDING: { state: 'PROCESSING' },
  DECLINED: { state: 'FAILED', failureCode: 'capture_declined' },
  FAILED: { state: 'FAILED', failureCode: 'capture_failed' },
}
const authorizationStates: Readonly<Record<string, StateAndFailure>> = {
  CREATED: { state: 'AUTHORIZED' },
  PENDING: { state: 'PROCESSING' },
  DENIED: { state: 'FAILED', failureCode: 'authorization_denied' },
  VOIDED: { state: 'VOIDED' },
}

/** @throws ProcessorUnavailable for an unknown status, or one that contradicts the rest: captured without a capture */
const neededIn = (meanings: Readonly<Record<string, StateAndFailure>>, status: string): StateAndFailure => meaningOf(meanings, status)

function referencesOf(authorization: string | undefined, capture: string | undefined): References | undefined {
  if (authorization === undefined && capture === undefined) return undefined
  return { ...(authorization === undefined ? {} : { authorization }), ...(capture === undefined ? {} : { capture }) }
}

/** For PayPal's buttons (`orderId`), or a redirect (`approveUrl`). */
const clientParametersOf = ({ id, approveUrl }: Order, clientId: string): Record<string, string> => ({
  orderId: id,
  clientId,
  ...(approveUrl === undefined ? {} : { approveUrl }),
})

const refundStates: Readonly<Record<string, RefundAnswer['state']>> = {
  COMPLETED: 'SUCCEEDED',
  PENDING: 'PENDING',
  FAILED: 'FAILED',
  CANCELLED: 'FAILED',
}

/**
 * Reads a refund.
 * @throws ProcessorUnavailable for anything else, or another amount, currency or id of ours
 */
export function refundOf(refund: unknown, { refundId, expected }: { refundId: string; expected: Amount }): RefundAnswer {
  const isOurs = (textAt(refund, 'custom_id') ?? refundId) === refundId
  if (!isOurs || minorUnitsIn(valueAt(refund, 'amount'), expected.currency) !== expected.amount) throw new UnknownAnswer('another refund')
  const status = textAt(refund, 'status') ?? ''
  const state = meaningOf(refundStates, status)
  const failureCode = state === 'FAILED' ? (wordOf(textAt(refund, 'status_details', 'reason')) ?? status.toLowerCase()) : undefined
  return { reference: requireValue(textAt(refund, 'id'), 'id'), state, ...(failureCode === undefined ? {} : { failureCode }) }
}

/** Returns the references of an event's payment. A capture alone requires a query for its order. */
export function namesIn(event: unknown): { readonly paymentId?: string; readonly order?: string; readonly capture?: string } {
  const type = textAt(event, 'event_type') ?? ''
  const resource = valueAt(event, 'resource')
  const related = (name: string) => textAt(resource, 'supplementary_data', 'related_ids', name)
  const referencesFrom = (names: Record<string, string | undefined>) =>
    Object.fromEntries(Object.entries(names).filter(([, name]) => name !== undefined))
  if (type.startsWith('CHECKOUT.ORDER.'))
    return referencesFrom({ order: textAt(resource, 'id'), paymentId: textAt(resource, 'purchase_units', 0, 'custom_id') })
  if (/^PAYMENT\.CAPTURE\.(REFUNDED|REVERSED)$/.test(type)) {
    // A refund's `custom_id` is the refund's. A reversal may be reported as its capture.
    const up = /\/captures\/([\w-]+)$/.exec(linkOf({ links: valueAt(resource, 'links') }, 'up') ?? '')?.[1]
    return referencesFrom({ order: related('order_id'), capture: up ?? related('capture_id') ?? textAt(resource, 'id') })
  }
  if (/^PAYMENT\.(AUTHORIZATION|CAPTURE)\./.test(type)) {
    const capture = type.startsWith('PAYMENT.CAPTURE.') ? textAt(resource, 'id') : undefined
    return referencesFrom({ order: related('order_id'), paymentId: textAt(resource, 'custom_id'), capture })
  }
  return referencesFrom({ capture: textAt(resource, 'disputed_transactions', 0, 'seller_transaction_id') })
}

/**
 * Reads the dispute of an event. Its fields are not confirmed: without the expected ones it is no dispute, and the
 * payment is queried anyway. An inquiry takes no money.
 */
export function disputeOf(event: unknown): ProcessorMessage['dispute'] {
  if (!textAt(event, 'event_type')?.startsWith('CUSTOMER.DISPUTE.')) return undefined
  const resource = valueAt(event, 'resource')
  const currency = textAt(resource, 'dispute_amount', 'currency_code') ?? ''
  const [reference, amount] = [textAt(resource, 'dispute_id'), minorUnitsIn(valueAt(resource, 'dispute_amount'), currency)]
  const outcome = textAt(resource, 'dispute_outcome', 'outcome_code') ?? ''
  const resolved = new Map([
    ['RESOLVED_BUYER_FAVOUR', 'LOST'],
    ['RESOLVED_SELLER_FAVOUR', 'WON'],
    ['CANCELED_BY_BUYER', 'WON'],
  ] as const).get(outcome as 'CANCELED_BY_BUYER')
  const isInquiry = (textAt(resource, 'dispute_life_cycle_stage') ?? 'INQUIRY') === 'INQUIRY'
  const state = textAt(resource, 'status') === 'RESOLVED' ? resolved : isInquiry ? undefined : 'OPEN'
  return reference === undefined || amount === undefined || state === undefined ? undefined : { reference, amount, currency, state }
}
