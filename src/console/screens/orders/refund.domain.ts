/** Previews of refunds. The API decides the amounts. */
import { multiplyHalfEven } from '../../../lib/rounding.ts'
import type { Schema } from '../../lib/api/api.ts'
import type { Money } from '../../lib/forms/amounts.ts'

type Order = Schema<'Order'>
type Line = Order['lines'][number]

/** Refundable minor units, to the payment and to gift cards. */
type RefundableAmounts = { readonly captured: number; readonly onCards: number }

const sum = (amounts: readonly number[]): number => amounts.reduce((all, amount) => all + amount, 0)

/** Failed refunds released their amounts; pending ones hold them. */
const activeRefunds = ({ refunds }: Order) => refunds.filter(({ status }) => status !== 'FAILED')

/** Returns what is refundable. Late captures that were returned do not count. */
export function refundableAmounts(order: Order): RefundableAmounts {
  const lateCaptures = new Set(order.events.filter(({ type }) => type === 'LATE_CAPTURE').map(({ detail }) => detail['payment']))
  const earlierRefunds = activeRefunds(order).filter(({ paymentId }) => paymentId === null || !lateCaptures.has(paymentId))
  return {
    captured: Math.max(
      0,
      order.capturedTotal.amount - sum(earlierRefunds.map(({ amount, giftCardAmount }) => amount.amount - giftCardAmount.amount)),
    ),
    onCards: Math.max(0, order.giftCardTotal.amount - sum(earlierRefunds.map(({ giftCardAmount }) => giftCardAmount.amount))),
  }
}

/** Returns whether an order waits for a payment that the shop receives outside souk. */
export const awaitsManualPayment = ({ status, payments }: Pick<Order, 'status' | 'payments'>): boolean =>
  status === 'PENDING_PAYMENT' && payments.some((payment) => payment.method === 'manual' && payment.status === 'PENDING')

/** Returns the refundable total of the API. */
export const refundableTotalOf = ({ refundableTotal }: Pick<Order, 'refundableTotal'>): number => refundableTotal?.amount ?? 0

/** Returns the units of a line that are not refunded. */
export const unitsLeft = (order: Order, { id, quantity }: Line): number =>
  quantity -
  sum(
    activeRefunds(order)
      .flatMap(({ lines }) => lines)
      .filter(({ lineId }) => lineId === id)
      .map((line) => line.quantity),
  )

/** Returns what was paid for a line: less discounts, plus exclusive tax, without shipping. */
const amountPaidFor = ({ total, discount, tax }: Line): number => total.amount - discount.amount + (tax.inclusive ? 0 : tax.amount.amount)

/** Returns the refund of further units; the last unit takes the rounding remainder. */
export function lineRefundAmount(order: Order, line: Line, quantity: number): number {
  // Invalid or too many units.
  if (!Number.isInteger(quantity)) return Number.NaN
  if (quantity <= 0) return 0
  const earlierRefunds = activeRefunds(order)
    .flatMap(({ lines }) => lines)
    .filter(({ lineId }) => lineId === line.id)
  const units = sum(earlierRefunds.map((refund) => refund.quantity)) + quantity
  if (units > line.quantity) return Number.NaN
  return Math.max(0, multiplyHalfEven(amountPaidFor(line), units, line.quantity) - sum(earlierRefunds.map(({ amount }) => amount.amount)))
}

export type RefundKind = 'lines' | 'amount' | 'all'
type RefundLineRequest = { readonly lineId: string; readonly quantity: number; readonly restock: boolean }
export type RefundRequest =
  /** An amount that is not typed yet. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'all' }
  | { readonly kind: 'amount'; readonly amount: Money | undefined }
  | { readonly kind: 'lines'; readonly lines: readonly RefundLineRequest[] }

export type RefundPreview = {
  readonly total: number
  /** To the payment, which is refunded first. */
  readonly captured: number
  readonly onCards: number
  /** Refundable after this refund. */
  readonly remaining: number
  readonly problem?: 'nothing' | 'tooMuch' | 'notAmount'
}

/** Computes where a refund goes. */
export function previewRefund(order: Order, request: RefundRequest): RefundPreview {
  const refundable = refundableAmounts(order)
  const refundableTotal = refundable.captured + refundable.onCards
  const emptyPreview = { total: 0, captured: 0, onCards: 0, remaining: refundableTotal }
  if (request.kind === 'nothing' || (request.kind === 'lines' && request.lines.length === 0)) return { ...emptyPreview, problem: 'nothing' }
  const total =
    request.kind === 'all'
      ? refundableTotal
      : request.kind === 'amount'
        ? (request.amount?.amount ?? Number.NaN)
        : sum(
            request.lines.map(({ lineId, quantity }) => {
              const line = order.lines.find(({ id }) => id === lineId)
              return line ? lineRefundAmount(order, line, quantity) : Number.NaN
            }),
          )
  if (Number.isNaN(total)) return { ...emptyPreview, problem: request.kind === 'amount' ? 'notAmount' : 'tooMuch' }
  if (total > refundableTotal) return { ...emptyPreview, problem: 'tooMuch' }
  // Lines without a price can be returned for nothing.
  if (total === 0 && request.kind !== 'lines') return { ...emptyPreview, problem: 'nothing' }
  const captured = Math.min(total, refundable.captured)
  return { total, captured, onCards: total - captured, remaining: refundableTotal - total }
}

/** Builds the request body. */
export function refundBody(request: Exclude<RefundRequest, { kind: 'nothing' }>, reason: string) {
  const reasonField = reason.trim() === '' ? {} : { reason: reason.trim() }
  if (request.kind === 'all') return { all: true as const, ...reasonField }
  if (request.kind === 'amount') return { ...(request.amount ? { amount: request.amount } : {}), ...reasonField }
  return { lines: request.lines.map((line) => ({ ...line })), ...reasonField }
}

/** Returns whether anything is left to refund. */
export const isRefundable = (order: Pick<Order, 'refundableTotal'>): boolean => refundableTotalOf(order) > 0
/** Returns whether an order can be cancelled. Fulfilled orders are refunded instead. */
export const isCancellable = ({ status, fulfilmentStatus }: Order): boolean =>
  status === 'PENDING_PAYMENT' || (status === 'CONFIRMED' && fulfilmentStatus === 'UNFULFILLED')
/** Returns the units that are not fulfilled. */
export const unfulfilledUnits = ({ status, lines }: Order): number =>
  status === 'CONFIRMED' ? sum(lines.map(({ unfulfilledQuantity = 0 }) => unfulfilledQuantity)) : 0
const manualAfterMs = 3 * 86_400_000
/**
 * Returns whether a refund can be marked as paid by hand. A pending one only after three days, as in the API: earlier
 * the shop could pay twice.
 * @param now server time
 */
export const canSettle = ({ status, createdAt }: Schema<'Refund'>, now: number): boolean =>
  status === 'MANUAL' || (status === 'PENDING' && now - Date.parse(createdAt) >= manualAfterMs)
