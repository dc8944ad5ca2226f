/** What Checkout.com can say, and what its words for a payment mean. */
import { currencies, decimalsOf, isCurrency } from '../../lib/money.ts'
import { countAt, knownAs, listAt, needed, textAt, valueAt, wordOf } from './answers.ts'
import type { PaymentState, RefundAnswer } from './processor.ts'
import { UnknownAnswer } from './processor.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const withoutDecimals = words('BIF DJF GNF ISK JPY KMF KRW PYG RWF UGX VUV VND XAF XOF XPF')
const withThreeDecimals = words('BHD IQD JOD KWD LYD OMR TND')
/** Those it does not know, and CLP, whose decimals there are nobody could confirm. */
const unsaid = words('BOV CHE CHW CLP COU MXV SLE SSP USN UYI UYW VED VES XCG ZWG')
/** Nine digits. */
const amountMax = 999_999_999

const theirDecimals = (currency: string): number => (withoutDecimals.has(currency) ? 0 : withThreeDecimals.has(currency) ? 3 : 2)

/** Whose minor units are ours: nothing is ever converted. */
const said: ReadonlySet<string> = new Set(currencies.filter((code) => !unsaid.has(code) && decimalsOf(code) === theirDecimals(code)))

export const saysCurrency = (currency: string): boolean => isCurrency(currency) && said.has(currency)

/** 0 would verify a card; of three decimals the last one has to be 0. */
export const says = ({ amount, currency }: { readonly amount: number; readonly currency: string }): boolean =>
  saysCurrency(currency) &&
  Number.isSafeInteger(amount) &&
  amount > 0 &&
  amount <= amountMax &&
  (theirDecimals(currency) < 3 || String(amount).endsWith('0'))

/** What a payment has to be of; undefined: whatever amount it says. */
export type ExpectedAmount = { readonly amount: number | undefined; readonly currency: string }

/** A payment of theirs (`pay_…`) as it reads. */
export type CheckoutPaymentState = {
  readonly id: string
  /** Ours, as they were told it. */
  readonly ourId: string | undefined
  readonly state: PaymentState
  readonly authorized: number
  readonly captured: number
  readonly refunded?: number
  readonly failureCode?: string
  /** Where the shopper proves to be the card's owner. */
  readonly redirectUrl?: string
  /** When it was asked for; '' where that is not told. */
  readonly since: string
}

/** States by status; money that came counts more than any of them. */
const states: Readonly<Record<string, PaymentState>> = {
  Active: 'PENDING',
  Requested: 'PENDING',
  Pending: 'PENDING',
  'Authentication Requested': 'PENDING',
  'Retry Scheduled': 'PENDING',
  Authorized: 'AUTHORIZED',
  // Money that its balances do not show is money on the way.
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
 * Reads a payment. Only what its balances show is money, or, where there are none, a status that says that all of it was taken; less than
 * was asked for is PROCESSING, never CAPTURED.
 * @throws ProcessorUnavailable for an answer that makes no sense, and for another amount or currency than was asked for
 */
export function readPayment(json: unknown, asked: ExpectedAmount): CheckoutPaymentState {
  const id = needed(idAt(json, 'id'), 'payment id')
  const status = needed(textAt(json, 'status'), 'payment status')
  const stated = knownAs(states, status)
  const amount = needed(asked.amount ?? countAt(json, 'amount'), 'payment amount')
  if (differs(valueAt(json, 'amount'), amount) || differs(valueAt(json, 'currency'), asked.currency))
    throw new UnknownAnswer('another amount or currency')
  const captured = countAt(json, 'balances', 'total_captured') ?? (whollyCaptured.has(status) ? amount : 0)
  const state = stateOf(stated, captured, amount)
  const held = state === 'AUTHORIZED' || state === 'PROCESSING' || state === 'CAPTURED'
  const refunded = countAt(json, 'balances', 'total_refunded')
  const redirectUrl = state === 'PENDING' ? linkAt(json, '_links', 'redirect', 'href') : undefined
  const code = textAt(json, 'response_code') ?? textAt(listAt(json, 'actions')[0], 'response_code')
  const failureCode = wordOf(status === 'Declined' ? code : undefined, status.toLowerCase())
  return {
    id,
    ourId: textAt(json, 'reference'),
    state: redirectUrl === undefined ? state : 'REQUIRES_ACTION',
    authorized: countAt(json, 'balances', 'total_authorized') ?? (held ? amount : 0),
    captured,
    since: textAt(json, 'requested_on') ?? '',
    ...(refunded === undefined ? {} : { refunded }),
    ...(state === 'FAILED' && failureCode !== undefined ? { failureCode } : {}),
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
  }
}

const differs = (told: unknown, asked: unknown): boolean => told !== undefined && told !== null && told !== asked

function stateOf(stated: PaymentState, captured: number, asked: number): PaymentState {
  if (captured >= asked) return 'CAPTURED'
  return captured > 0 ? 'PROCESSING' : stated
}

/** An id of theirs: it becomes part of an address. */
export function idAt(json: unknown, ...path: readonly string[]): string | undefined {
  const id = textAt(json, ...path)
  return id !== undefined && /^\w{1,100}$/.test(id) ? id : undefined
}

/** An address that a shopper may be sent to. */
function linkAt(json: unknown, ...path: readonly string[]): string | undefined {
  const link = textAt(json, ...path)
  const protocol = link === undefined ? undefined : URL.parse(link)?.protocol
  return protocol === 'https:' || protocol === 'http:' ? link : undefined
}

const standing: readonly PaymentState[] = ['CAPTURED', 'PROCESSING', 'AUTHORIZED', 'REQUIRES_ACTION', 'PENDING', 'VOIDED', 'FAILED']

/** A session may be paid more than once. Best first: where most has happened, of those the one that we know, of those the oldest. */
export const ranked = (payments: readonly CheckoutPaymentState[], known: string | undefined): readonly CheckoutPaymentState[] =>
  payments.toSorted(
    (a, b) =>
      standing.indexOf(a.state) - standing.indexOf(b.state) ||
      Number(b.id === known) - Number(a.id === known) ||
      compare(a.since, b.since) ||
      compare(a.id, b.id),
  )

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export type Action = {
  readonly id: string
  readonly approved: boolean | undefined
  readonly code: string | undefined
  readonly amount: number | undefined
}

/** The newest action of a kind that was asked for under this reference of ours, or has this id of theirs. @param actions newest first */
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
    id: needed(idAt(found, 'id'), 'action id'),
    approved: typeof approved === 'boolean' ? approved : undefined,
    code: wordOf(textAt(found, 'response_code')),
    amount: countAt(found, 'amount'),
  }
}

/** @throws ProcessorUnavailable for another amount than was asked for */
export function refundOf({ id, approved, code, amount }: Action, asked: { readonly amount: number }): RefundAnswer {
  if (amount !== undefined && amount !== asked.amount) throw new UnknownAnswer('a refund of another amount')
  if (approved === undefined) return { reference: id, state: 'PENDING' }
  return approved ? { reference: id, state: 'SUCCEEDED' } : { reference: id, state: 'FAILED', failureCode: code ?? 'declined' }
}
