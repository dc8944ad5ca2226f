/** What Tap can say, what its words mean, and what it signs. */
import { createHmac } from 'node:crypto'
import { amountMax, decimalOf, decimalsOf, isCurrency, parseAmount } from '../../lib/money.ts'
import { sameSecret } from '../../lib/seal.ts'
import { knownAs, needed, textAt, valueAt, wordOf } from './answers.ts'
import type { PaymentState, RefundAnswer } from './processor.ts'
import { UnknownAnswer } from './processor.ts'

export type Amount = { readonly amount: number; readonly currency: string }

/** By its documents, and JOD and TND by ours. */
const said: ReadonlySet<string> = new Set(['AED', 'BHD', 'EGP', 'EUR', 'GBP', 'JOD', 'KWD', 'OMR', 'QAR', 'SAR', 'TND', 'USD'])
/** The others of three decimals are said where the last one is 0. */
const withThreeDecimals: ReadonlySet<string> = new Set(['BHD', 'KWD', 'OMR'])
export const saysCurrency = (currency: string): boolean => said.has(currency)

export const says = ({ amount, currency }: Amount): boolean =>
  saysCurrency(currency) &&
  Number.isSafeInteger(amount) &&
  amount > 0 &&
  amount <= amountMax &&
  (decimalsOf(currency) < 3 || withThreeDecimals.has(currency) || String(amount).endsWith('0'))

/** Major units as a JSON number: the fifteen digits of our largest amount survive the way through it. */
export const numberOf = ({ amount, currency }: Amount): number => Number(decimalOf(amount, decimalsOf(currency)))

/** An amount as it is told, in minor units of its currency; undefined where there is none. */
function toldAmount(json: unknown): Amount | undefined {
  const value = valueAt(json, 'amount')
  const currency = textAt(json, 'currency')?.toUpperCase()
  if ((typeof value !== 'number' && typeof value !== 'string') || currency === undefined || !isCurrency(currency)) return undefined
  const amount = parseAmount(String(value), currency)
  return amount === undefined ? undefined : { amount, currency }
}

/** An authorization (`auth_…`) or a charge (`chg_…`) as it reads. */
export type TapPaymentState = {
  readonly id: string
  readonly state: PaymentState
  readonly authorized: number
  readonly captured: number
  readonly failureCode?: string
  /** Where the shopper pays. */
  readonly redirectUrl?: string
}

/** TIMEDOUT, CANCELED and VOIDED: spellings differ between its pages. What nobody knows the end of is not over. */
const states: Readonly<Record<string, PaymentState>> = {
  INITIATED: 'PENDING',
  PENDING: 'PENDING',
  IN_PROGRESS: 'PENDING',
  AUTHORIZED: 'AUTHORIZED',
  CAPTURED: 'CAPTURED',
  VOID: 'VOIDED',
  VOIDED: 'VOIDED',
  ABANDONED: 'FAILED',
  CANCELLED: 'FAILED',
  CANCELED: 'FAILED',
  EXPIRED: 'FAILED',
  FAILED: 'FAILED',
  DECLINED: 'FAILED',
  RESTRICTED: 'FAILED',
  TIMED_OUT: 'FAILED',
  TIMEDOUT: 'FAILED',
  UNKNOWN: 'PROCESSING',
}

/**
 * Reads an authorization or a charge. Money is what a charge says that it captured: an authorization never is.
 * @throws ProcessorUnavailable for an answer that makes no sense, and for another amount or currency than was asked for
 */
export function readPayment(json: unknown, asked: Amount | undefined): TapPaymentState {
  const id = needed(idAt(json, 'id'), 'payment id')
  const status = needed(textAt(json, 'status'), 'payment status').toUpperCase()
  const stated = knownAs(states, status)
  const told = needed(toldAmount(json), 'payment amount')
  if (asked && (told.amount !== asked.amount || told.currency !== asked.currency)) throw new UnknownAnswer('another amount or currency')
  // Captured, but by a charge that is not this.
  const state = stated === 'CAPTURED' && !isCharge(id) ? 'PROCESSING' : stated
  const redirectUrl = state === 'PENDING' ? linkAt(json, 'transaction', 'url') : undefined
  const failureCode = wordOf(textAt(json, 'response', 'code'), status.toLowerCase())
  return {
    id,
    state: redirectUrl === undefined ? state : 'REQUIRES_ACTION',
    authorized: state === 'AUTHORIZED' || state === 'PROCESSING' || state === 'CAPTURED' ? told.amount : 0,
    captured: state === 'CAPTURED' ? told.amount : 0,
    ...(state === 'FAILED' && failureCode !== undefined ? { failureCode } : {}),
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
  }
}

export const isCharge = (id: string): boolean => id.startsWith('chg_')
export const isAuthorization = (id: string): boolean => id.startsWith('auth_')

/** An id of theirs: it becomes part of an address. */
export function idAt(json: unknown, ...path: readonly string[]): string | undefined {
  const id = textAt(json, ...path)
  return id !== undefined && /^\w{1,100}$/.test(id) ? id : undefined
}

/** An address that a shopper, or a message, may be sent to. */
export function linkAt(json: unknown, ...path: readonly string[]): string | undefined {
  const link = textAt(json, ...path)
  const protocol = link === undefined ? undefined : URL.parse(link)?.protocol
  return protocol === 'https:' || protocol === 'http:' ? link : undefined
}

const refundStates: Readonly<Record<string, RefundAnswer['state']>> = {
  INITIATED: 'PENDING',
  PENDING: 'PENDING',
  ACCEPTED: 'PENDING',
  IN_PROGRESS: 'PENDING',
  UNKNOWN: 'PENDING',
  REFUNDED: 'SUCCEEDED',
  DECLINED: 'FAILED',
  FAILED: 'FAILED',
  RESTRICTED: 'FAILED',
  CANCELLED: 'FAILED',
  CANCELED: 'FAILED',
  TIMED_OUT: 'FAILED',
  TIMEDOUT: 'FAILED',
}

/** @throws ProcessorUnavailable for an answer that makes no sense, and for another amount or currency than was asked for */
export function refundOf(json: unknown, asked: Amount): RefundAnswer {
  const reference = needed(idAt(json, 'id'), 'refund id')
  const status = needed(textAt(json, 'status'), 'refund status').toUpperCase()
  const state = knownAs(refundStates, status)
  const told = needed(toldAmount(json), 'refund amount')
  if (told.amount !== asked.amount || told.currency !== asked.currency) throw new UnknownAnswer('another amount or currency')
  const failureCode = wordOf(textAt(json, 'response', 'code'), status.toLowerCase())
  return { reference, state, ...(state === 'FAILED' && failureCode !== undefined ? { failureCode } : {}) }
}

/**
 * Whether one of these keys signed a message. The body as a whole is not signed, only the fields named here, with the amount in all its
 * decimals; which of the two times it is depends on the kind of object. The form of a reference that is missing nobody could confirm.
 */
export function isSigned(message: unknown, hash: string, keys: readonly string[]): boolean {
  const told = toldAmount(message)
  const id = idAt(message, 'id')
  const status = textAt(message, 'status')
  if (!told || id === undefined || status === undefined) return false
  const amount = decimalOf(told.amount, decimalsOf(told.currency))
  const field = (...path: string[]) => String(valueAt(message, ...path) ?? '')
  const created = isCharge(id) || isAuthorization(id) ? field('transaction', 'created') : field('created')
  const signed =
    `x_id${id}x_amount${amount}x_currency${field('currency')}x_gateway_reference${field('reference', 'gateway')}` +
    `x_payment_reference${field('reference', 'payment')}x_status${status}x_created${created}`
  return keys.some((key) => sameSecret(hash, createHmac('sha256', key).update(signed).digest('hex')))
}
