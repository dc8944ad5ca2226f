/** The currencies of Tap, the meaning of its statuses, and its signatures. */
import { createHmac } from 'node:crypto'
import { amountMax, decimalOf, decimalsOf, isCurrency, parseAmount } from '../../../lib/money.ts'
import { sameSecret } from '../../../lib/seal.ts'
import { idAt, linkAt, meaningOf, requireValue, textAt, valueAt, wordOf } from '../answers.ts'
import type { PaymentState, RefundAnswer } from '../processor.ts'
import { UnknownAnswer } from '../processor.ts'

export type Amount = { readonly amount: number; readonly currency: string }

/** By Tap's documents; JOD and TND by ours. */
const supported: ReadonlySet<string> = new Set(['AED', 'BHD', 'EGP', 'EUR', 'GBP', 'JOD', 'KWD', 'OMR', 'QAR', 'SAR', 'TND', 'USD'])
/** Of other currencies with three decimals the last one must be 0. */
const withThreeDecimals: ReadonlySet<string> = new Set(['BHD', 'KWD', 'OMR'])
/** Returns whether Tap documents the currency. */
export const supportsCurrency = (currency: string): boolean => supported.has(currency)

/** Returns whether Tap can charge exactly this amount. */
export const supportsAmount = ({ amount, currency }: Amount): boolean =>
  supportsCurrency(currency) &&
  Number.isSafeInteger(amount) &&
  amount > 0 &&
  amount <= amountMax &&
  (decimalsOf(currency) < 3 || withThreeDecimals.has(currency) || String(amount).endsWith('0'))

/**
 * Returns the amount in major units as a JSON number: it is exact up to fifteen digits, more than our largest amount.
 */
export const numberOf = ({ amount, currency }: Amount): number => Number(decimalOf(amount, decimalsOf(currency)))

/** Reads an amount in minor units; undefined without one. */
function statedAmount(json: unknown): Amount | undefined {
  const value = valueAt(json, 'amount')
  const currency = textAt(json, 'currency')?.toUpperCase()
  if ((typeof value !== 'number' && typeof value !== 'string') || currency === undefined || !isCurrency(currency)) return undefined
  const amount = parseAmount(String(value), currency)
  return amount === undefined ? undefined : { amount, currency }
}

/** An authorization (`auth_…`) or a charge (`chg_…`). */
export type TapPaymentState = {
  readonly id: string
  readonly state: PaymentState
  readonly authorized: number
  readonly captured: number
  readonly failureCode?: string
  /** Where the shopper pays. */
  readonly redirectUrl?: string
}

/** TIMEDOUT, CANCELED and VOIDED are spelt differently on its pages. UNKNOWN is not final. */
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
 * Reads an authorization or a charge. Only a charge captures money.
 * @throws ProcessorUnavailable for an invalid answer, and for another amount or currency
 */
export function readPayment(json: unknown, expected: Amount | undefined): TapPaymentState {
  const id = requireValue(idAt(json, 'id'), 'payment id')
  const status = requireValue(textAt(json, 'status'), 'payment status').toUpperCase()
  const stated = meaningOf(states, status)
  const total = requireValue(statedAmount(json), 'payment amount')
  if (expected && (total.amount !== expected.amount || total.currency !== expected.currency))
    throw new UnknownAnswer('another amount or currency')
  // Captured by a charge that is not this object.
  const state = stated === 'CAPTURED' && !isCharge(id) ? 'PROCESSING' : stated
  const redirectUrl = state === 'PENDING' ? linkAt(json, 'transaction', 'url') : undefined
  const failureCode = wordOf(textAt(json, 'response', 'code'), status.toLowerCase())
  return {
    id,
    state: redirectUrl === undefined ? state : 'REQUIRES_ACTION',
    authorized: state === 'AUTHORIZED' || state === 'PROCESSING' || state === 'CAPTURED' ? total.amount : 0,
    captured: state === 'CAPTURED' ? total.amount : 0,
    ...(state === 'FAILED' && failureCode !== undefined ? { failureCode } : {}),
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
  }
}

/** Returns whether an id names a charge, the only object that captures money. */
export const isCharge = (id: string): boolean => id.startsWith('chg_')
/** Returns whether an id names an authorization. */
export const isAuthorization = (id: string): boolean => id.startsWith('auth_')

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

/**
 * Reads a refund.
 * @throws ProcessorUnavailable for an invalid answer, and for another amount or currency
 */
export function refundOf(json: unknown, expected: Amount): RefundAnswer {
  const reference = requireValue(idAt(json, 'id'), 'refund id')
  const status = requireValue(textAt(json, 'status'), 'refund status').toUpperCase()
  const state = meaningOf(refundStates, status)
  const stated = requireValue(statedAmount(json), 'refund amount')
  if (stated.amount !== expected.amount || stated.currency !== expected.currency) throw new UnknownAnswer('another amount or currency')
  const failureCode = wordOf(textAt(json, 'response', 'code'), status.toLowerCase())
  return { reference, state, ...(state === 'FAILED' && failureCode !== undefined ? { failureCode } : {}) }
}

/**
 * Returns whether one of the keys signed a message. Only the fields named here are signed, with the amount in full
 * decimals; the kind of object decides which time is used. The form of a missing reference could not be confirmed.
 */
export function isSigned(message: unknown, hash: string, keys: readonly string[]): boolean {
  const stated = statedAmount(message)
  const id = idAt(message, 'id')
  const status = textAt(message, 'status')
  if (!stated || id === undefined || status === undefined) return false
  const amount = decimalOf(stated.amount, decimalsOf(stated.currency))
  const field = (...path: string[]) => String(valueAt(message, ...path) ?? '')
  const created = isCharge(id) || isAuthorization(id) ? field('transaction', 'created') : field('created')
  const signed =
    `x_id${id}x_amount${amount}x_currency${field('currency')}x_gateway_reference${field('reference', 'gateway')}` +
    `x_payment_reference${field('reference', 'payment')}x_status${status}x_created${created}`
  return keys.some((key) => sameSecret(hash, createHmac('sha256', key).update(signed).digest('hex')))
}
