/** The currencies of Checkout.com, and the meaning of its statuses. */
import { currencies, decimalsOf, isCurrency } from '../../../lib/money.ts'
import { countAt, idAt, linkAt, listAt, meaningOf, requireValue, textAt, valueAt, wordOf } from '../answers.ts'
import type { PaymentState, RefundAnswer } from '../processor.ts'
import { UnknownAnswer } from '../processor.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const withoutDecimals = words('BIF DJF GNF ISK JPY KMF KRW PYG RWF UGX VUV VND XAF XOF XPF')
const withThreeDecimals = words('BHD IQD JOD KWD LYD OMR TND')
/** Currencies that it does not support, and CLP, whose decimals there could not be confirmed. */
const unsupported = words('BOV CHE CHW CLP COU MXV SLE SSP USN UYI UYW VED VES XCG ZWG')
/** Nine digits. */
const amountMax = 999_999_999

const checkoutDecimals = (currency: string): number => (withoutDecimals.has(currency) ? 0 : withThreeDecimals.has(currency) ? 3 : 2)

/** Currencies with the same minor units as ours: amounts are never converted. */
const supported: ReadonlySet<string> = new Set(
  currencies.filter((code) => !unsupported.has(code) && decimalsOf(code) === checkoutDecimals(code)),
)

/** Returns whether the currency can be charged in the same minor units as ours. */
export const supportsCurrency = (currency: string): boolean => isCurrency(currency) && supported.has(currency)

/** Returns whether Checkout.com supports an amount. 0 would verify a card. The last of three decimals must be 0. */
export const supportsAmount = ({ amount, currency }: { readonly amount: number; readonly currency: string }): boolean =>
  supportsCurrency(currency) &&
  Number.isSafeInteger(amount) &&
  amount > 0 &&
  amount <= amountMax &&
  (checkoutDecimals(currency) < 3 || String(amount).endsWith('0'))

/** The amount that a payment must have; undefined: any. */
export type ExpectedAmount = { readonly amount: number | undefined; readonly currency: string }

/** A payment (`pay_…`). */
export type CheckoutPaymentState = {
  readonly id: string
  /** Our id, as it was sent. */
  readonly ourId: string | undefined
  readonly state: PaymentState
  readonly authorized: number
  readonly captured: number
  readonly refunded?: number
  readonly failureCode?: string
  /** Where the shopper authenticates. */
  readonly redirectUrl?: string
  /** The time of its request; '' if unknown. */
  readonly since: string
}

/** States by status. Captured money overrides them. */
const states: Readonly<Record<string, PaymentState>> = {
  Active: 'PENDING',
  Requested: 'PENDING',
  Pending: 'PENDING',
  'Authentication Requested': 'PENDING',
  'Retry Scheduled': 'PENDING',
  Authorized: 'AUTHORIZED',
  // Money that the balances do not show is not captured yet.
  Paid: 'PROCESSING',
  'Partially Captured': 'PROCESSING',
  Captured: 'PROCESSING',
  'Partially Refunded': 'PROCESSING',
  Refunded: 'PROCESSING',
  Canceled: 'FAILED',
  Expired: 'FAILED',
  Declined: 'FAILED',
  Voided: 'VOIDED',
}
const whollyCaptured = words('Captured Refunded')

/**
 * Reads a payment. Its balances show the captured money; without them, a status that means full capture. Less than the
 * amount is PROCESSING, never CAPTURED.
 * @throws ProcessorUnavailable for an invalid answer, and for another amount or currency
 */
export function readPayment(json: unknown, expected: ExpectedAmount): CheckoutPaymentState {
  const id = requireValue(idAt(json, 'id'), 'payment id')
  const status = requireValue(textAt(json, 'status'), 'payment status')
  const stated = meaningOf(states, status)
  const amount = requireValue(expected.amount ?? countAt(json, 'amount'), 'payment amount')
  if (differs(valueAt(json, 'amount'), amount) || differs(valueAt(json, 'currency'), expected.currency))
    throw new UnknownAnswer('another amount or currency')
  const captured = countAt(json, 'balances', 'total_captured') ?? (whollyCaptured.has(status) ? amount : 0)
  const state = stateOf(stated, captured, amount)
  const isAuthorized = state === 'AUTHORIZED' || state === 'PROCESSING' || state === 'CAPTURED'
  const refunded = countAt(json, 'balances', 'total_refunded')
  const redirectUrl = state === 'PENDING' ? linkAt(json, '_links', 'redirect', 'href') : undefined
  const code = textAt(json, 'response_code') ?? textAt(listAt(json, 'actions')[0], 'response_code')
  const failureCode = wordOf(status === 'Declined' ? code : undefined, status.toLowerCase())
  return {
    id,
    ourId: textAt(json, 'reference'),
    state: redirectUrl === undefined ? state : 'REQUIRES_ACTION',
    authorized: countAt(json, 'balances', 'total_authorized') ?? (isAuthorized ? amount : 0),
    captured,
    since: textAt(json, 'requested_on') ?? '',
    ...(refunded === undefined ? {} : { refunded }),
    ...(state === 'FAILED' && failureCode !== undefined ? { failureCode } : {}),
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
  }
}

const differs = (value: unknown, expected: unknown): boolean => value !== undefined && value !== null && value !== expected

function stateOf(stated: PaymentState, captured: number, expected: number): PaymentState {
  if (captured >= expected) return 'CAPTURED'
  return captured > 0 ? 'PROCESSING' : stated
}

const statesByProgress: readonly PaymentState[] = ['CAPTURED', 'PROCESSING', 'AUTHORIZED', 'REQUIRES_ACTION', 'PENDING', 'VOIDED', 'FAILED']

/**
 * Sorts the payments of a session, which may be paid more than once: furthest state, then the known one, then oldest.
 */
export const ranked = (payments: readonly CheckoutPaymentState[], knownId: string | undefined): readonly CheckoutPaymentState[] =>
  payments.toSorted(
    (a, b) =>
      statesByProgress.indexOf(a.state) - statesByProgress.indexOf(b.state) ||
      Number(b.id === knownId) - Number(a.id === knownId) ||
      compare(a.since, b.since) ||
      compare(a.id, b.id),
  )

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

type Action = {
  readonly id: string
  readonly approved: boolean | undefined
  readonly code: string | undefined
  readonly amount: number | undefined
}

/**
 * Finds the newest action of a kind with our reference or its id.
 * @param actions newest first
 */
export function actionOf(
  actions: unknown,
  type: 'Capture' | 'Void' | 'Refund',
  { ourId, id }: { readonly ourId?: string; readonly id: string | undefined },
): Action | undefined {
  if (!Array.isArray(actions)) throw new UnknownAnswer('actions are no list')
  const found = actions.find((action) => {
    if (textAt(action, 'type') !== type) return false
    return (ourId !== undefined && textAt(action, 'reference') === ourId) || (id !== undefined && textAt(action, 'id') === id)
  })
  if (found === undefined) return undefined
  const approved = valueAt(found, 'approved')
  return {
    id: requireValue(idAt(found, 'id'), 'action id'),
    approved: typeof approved === 'boolean' ? approved : undefined,
    code: wordOf(textAt(found, 'response_code')),
    amount: countAt(found, 'amount'),
  }
}

/**
 * Reads a refund.
 * @throws ProcessorUnavailable for another amount
 */
export function refundOf({ id, approved, code, amount }: Action, expected: { readonly amount: number }): RefundAnswer {
  if (amount !== undefined && amount !== expected.amount) throw new UnknownAnswer('a refund of another amount')
  if (approved === undefined) return { reference: id, state: 'PENDING' }
  return approved ? { reference: id, state: 'SUCCEEDED' } : { reference: id, state: 'FAILED', failureCode: code ?? 'declined' }
}
