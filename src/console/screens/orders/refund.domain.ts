/** What a refund would come to. souk decides it; this is what one is shown before. */
import { shareOf } from '../../../lib/rounding.ts'
import type { Schema } from '../../lib/api/api.ts'
import type { Money } from '../../lib/forms/amounts.ts'

type Order = Schema<'Order'>
type Line = Order['lines'][number]

/** In minor units: what can go back by the way it was paid, and to gift cards. */
export type Left = { readonly captured: number; readonly onCards: number }

const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0)

/** Refunds that failed gave back what they took; those under way have it. */
const counted = ({ refunds }: Order) => refunds.filter(({ status }) => status !== 'FAILED')

/** What can still go back of an order. Money that came too late and went back was never a part of it. */
export function leftOf(order: Order): Left {
  const late = new Set(order.events.filter(({ type }) => type === 'LATE_CAPTURE').map(({ detail }) => detail['payment']))
  const before = counted(order).filter(({ paymentId }) => paymentId === null || !late.has(paymentId))
  return {
    captured: Math.max(
      0,
      order.capturedTotal.amount - sum(before.map(({ amount, giftCardAmount }) => amount.amount - giftCardAmount.amount)),
    ),
    onCards: Math.max(0, order.giftCardTotal.amount - sum(before.map(({ giftCardAmount }) => giftCardAmount.amount))),
  }
}

/** All that can still go back of it, as souk says. */
export const restOf = ({ refundableTotal }: Pick<Order, 'refundableTotal'>): number => refundableTotal?.amount ?? 0

/** How many of a line were not refunded yet. */
export const unitsLeft = (order: Order, { id, quantity }: Line): number =>
  quantity -
  sum(
    counted(order)
      .flatMap(({ lines }) => lines)
      .filter(({ lineId }) => lineId === id)
      .map((line) => line.quantity),
  )

/** What was paid for a line: less discounts, with the tax that came on top, without shipping. */
const amountPaidFor = ({ total, discount, tax }: Line): number => total.amount - discount.amount + (tax.inclusive ? 0 : tax.amount.amount)

/** What goes back for so many more of a line: the last one takes what is left by rounding. */
export function amountOf(order: Order, line: Line, quantity: number): number {
  // What was typed is no number, or more than there are.
  if (!Number.isInteger(quantity)) return Number.NaN
  if (quantity <= 0) return 0
  const before = counted(order)
    .flatMap(({ lines }) => lines)
    .filter(({ lineId }) => lineId === line.id)
  const units = sum(before.map((one) => one.quantity)) + quantity
  if (units > line.quantity) return Number.NaN
  return Math.max(0, shareOf(amountPaidFor(line), units, line.quantity) - sum(before.map(({ amount }) => amount.amount)))
}

export type Way = 'lines' | 'amount' | 'all'
export type RefundLineRequest = { readonly lineId: string; readonly quantity: number; readonly restock: boolean }
export type Asked =
  /** An amount, before it is typed. */
  | { readonly way: 'nothing' }
  | { readonly way: 'all' }
  | { readonly way: 'amount'; readonly amount: Money | undefined }
  | { readonly way: 'lines'; readonly lines: readonly RefundLineRequest[] }

export type Preview = {
  readonly total: number
  /** By the way it was paid, which goes first. */
  readonly captured: number
  readonly onCards: number
  /** What is left to refund then. */
  readonly rest: number
  readonly problem?: 'nothing' | 'tooMuch' | 'notAmount'
}

/** What would go where. */
export function previewOf(order: Order, asked: Asked): Preview {
  const left = leftOf(order)
  const all = left.captured + left.onCards
  const nothing = { total: 0, captured: 0, onCards: 0, rest: all }
  if (asked.way === 'nothing' || (asked.way === 'lines' && asked.lines.length === 0)) return { ...nothing, problem: 'nothing' }
  const total =
    asked.way === 'all'
      ? all
      : asked.way === 'amount'
        ? (asked.amount?.amount ?? Number.NaN)
        : sum(
            asked.lines.map(({ lineId, quantity }) => {
              const line = order.lines.find(({ id }) => id === lineId)
              return line ? amountOf(order, line, quantity) : Number.NaN
            }),
          )
  if (Number.isNaN(total)) return { ...nothing, problem: asked.way === 'amount' ? 'notAmount' : 'tooMuch' }
  if (total > all) return { ...nothing, problem: 'tooMuch' }
  // Of a line that cost nothing the goods alone go back.
  if (total === 0 && asked.way !== 'lines') return { ...nothing, problem: 'nothing' }
  const captured = Math.min(total, left.captured)
  return { total, captured, onCards: total - captured, rest: all - total }
}

/** What is sent for it. */
export function bodyOf(asked: Exclude<Asked, { way: 'nothing' }>, reason: string) {
  const why = reason.trim() === '' ? {} : { reason: reason.trim() }
  if (asked.way === 'all') return { all: true as const, ...why }
  if (asked.way === 'amount') return { ...(asked.amount ? { amount: asked.amount } : {}), ...why }
  return { lines: asked.lines.map((line) => ({ ...line })), ...why }
}

/** Whether an order may be refunded at all, and anything is left of it. */
export const isRefundable = (order: Pick<Order, 'refundableTotal'>): boolean => restOf(order) > 0
/** Whether it may be called off: what was sent is refunded instead. */
export const isCancellable = ({ status, fulfilmentStatus }: Order): boolean =>
  status === 'PENDING_PAYMENT' || (status === 'CONFIRMED' && fulfilmentStatus === 'UNFULFILLED')
/** How many of its lines' units are left to be sent. */
export const unsent = ({ status, lines }: Order): number =>
  status === 'CONFIRMED' ? sum(lines.map(({ unfulfilledQuantity = 0 }) => unfulfilledQuantity)) : 0
const silentMs = 3 * 86_400_000
/**
 * Whether it is time to say that a refund was paid by hand. Of one that its processor has just been asked for it is not: whoever paid it then
 * might pay twice. souk takes it from the third day on.
 * @param now on the server
 */
export const maySettle = ({ status, createdAt }: Schema<'Refund'>, now: number): boolean =>
  status === 'MANUAL' || (status === 'PENDING' && now - Date.parse(createdAt) >= silentMs)
