import { fieldError, invalidField } from '../../../../core/errors.ts'
import { dayOf } from '../../../../lib/day.ts'
import { multiplyHalfEven } from '../../../../lib/rounding.ts'
import type { Movement } from '../../../payments/ledger/index.ts'
import { isAssured, type Order, type OrderLine, type Refund } from '../domain.ts'

/** Units of a line to refund; `restock`: they go back to stock. `returned`: a return has received them. */
export type RefundLineRequest = {
  readonly lineId: string
  readonly quantity: number
  readonly restock: boolean
  readonly returned?: true
}
/** What to refund: an amount in minor units, some lines, or all that is left. */
export type RefundScope = { readonly amount: number } | { readonly lines: readonly RefundLineRequest[] } | { readonly all: true }
export type RefundedLine = Refund['lines'][number]

/** Returns what was paid for a line, in minor units: its total less discounts, plus tax on top. Excludes shipping. */
export const amountPaidFor = ({
  total,
  discount,
  taxInclusive,
  taxAmount,
}: Pick<OrderLine, 'total' | 'discount' | 'taxInclusive' | 'taxAmount'>): number => total - discount + (taxInclusive ? 0 : taxAmount)

/** Returns the value of a line without tax, in minor units: the base of a commission and of tax totals. */
export const netAmountOf = ({
  total,
  discount,
  taxInclusive,
  taxAmount,
}: Pick<OrderLine, 'total' | 'discount' | 'taxInclusive' | 'taxAmount'>): number => total - discount - (taxInclusive ? taxAmount : 0)

/**
 * Sums up the succeeded refunds of lines: `refunded` in all, for goods worth `back`, out of the order's `of`.
 * @param refunds all of the order's
 */
export function goodsRefunded(lines: readonly OrderLine[], refunds: readonly Pick<Refund, 'status' | 'lines'>[]) {
  const refundedLines = refunds.filter(({ status }) => status === 'SUCCEEDED').flatMap((refund) => refund.lines)
  const units = (id: string) =>
    sumOf(
      refundedLines.filter(({ lineId }) => lineId === id),
      'quantity',
    )
  return {
    back: lines.reduce((sum, line) => sum + multiplyHalfEven(netAmountOf(line), units(line.id), line.quantity), 0),
    of: lines.reduce((sum, line) => sum + netAmountOf(line), 0),
    refunded: sumOf(refundedLines, 'amount'),
  }
}

/**
 * Computes the amount for each line: the share of all its refunded units in what was paid for it, rounded half-even,
 * less what earlier refunds took. So the last unit gets the remainder, whichever refunds failed in between.
 * @param before the order's refunds: a failed one returned its units, a pending one holds them
 * @throws AppError INVALID for an unknown or repeated line; CONFLICT for more units than are left
 */
export function linesToRefund(
  lines: readonly OrderLine[],
  before: readonly Pick<Refund, 'status' | 'lines'>[],
  scope: readonly RefundLineRequest[],
): RefundedLine[] {
  const twice = scope.findIndex(({ lineId }, at) => scope.findIndex((one) => one.lineId === lineId) < at)
  if (twice >= 0) throw invalidField(`lines.${twice}.lineId`, 'must not be repeated')
  const refundedLines = before.filter(({ status }) => status !== 'FAILED').flatMap((refund) => refund.lines)
  return scope.map(({ lineId, quantity, restock, returned }, at) => {
    const line = lines.find(({ id }) => id === lineId)
    if (!line) throw invalidField(`lines.${at}.lineId`, 'must be a line of the order')
    const ofLine = refundedLines.filter((one) => one.lineId === lineId)
    const units = sumOf(ofLine, 'quantity') + quantity
    if (units > line.quantity)
      throw fieldError(
        'CONFLICT',
        `lines.${at}.quantity`,
        `must be at most ${line.quantity - (units - quantity)}, the units of this line that can still be refunded`,
        {
          code: 'refund_too_large',
        },
      )
    const due = multiplyHalfEven(amountPaidFor(line), units, line.quantity) - sumOf(ofLine, 'amount')
    return { lineId, quantity, amount: Math.max(0, due), restock, ...(returned ? { returned } : {}) }
  })
}

/** Returns the amount to refund, in minor units; undefined means all that is left. */
export function requestedAmount(scope: RefundScope, lines: readonly RefundedLine[]): number | undefined {
  if ('amount' in scope) return scope.amount
  return 'lines' in scope ? sumOf(lines, 'amount') : undefined
}

/** Returns whether a refund may come from a request with this scope. For `all`, the amount at that time is unknown. */
export function matchesRequest(
  scope: RefundScope,
  { amount, giftCardAmount, lines }: Pick<Refund, 'amount' | 'giftCardAmount' | 'lines'>,
): boolean {
  if ('lines' in scope)
    return (
      scope.lines.length === lines.length &&
      scope.lines.every(({ lineId, quantity, restock }, at) => {
        const line = lines[at]
        return line?.lineId === lineId && line.quantity === quantity && line.restock === restock
      })
    )
  return lines.length === 0 && (!('amount' in scope) || scope.amount === amount + giftCardAmount)
}

type StockOf = Pick<OrderLine, 'id' | 'variantId' | 'quantity' | 'tracked'>

/**
 * Counts the units that each line of a refund restocks: none if stock is not tracked. The units of a return are
 * restocked by the return.
 * @param restockable how many units of a line can go back to stock
 */
export const withRestocked = (
  { lines: refunded }: Pick<Refund, 'lines'>,
  lines: readonly StockOf[],
  restockable: (lineId: string) => number,
): RefundedLine[] =>
  refunded.map((line) => {
    if (!line.restock || line.returned) return line
    const isTracked = lines.some(({ id, tracked }) => id === line.lineId && tracked)
    return { ...line, restocked: isTracked ? Math.min(line.quantity, restockable(line.lineId)) : 0 }
  })

/** Returns the units that a refund restocks. */
export const restockedUnits = (refunded: readonly RefundedLine[], lines: readonly StockOf[]): { variantId: string; quantity: number }[] =>
  refunded.flatMap(({ lineId, restocked = 0 }) =>
    lines.filter(({ id }) => id === lineId && restocked > 0).map(({ variantId }) => ({ variantId, quantity: restocked })),
  )

/** Returns the units to restock when an order is cancelled. For units refunded earlier, their refund decided it. */
export const unrefundedUnits = (lines: readonly StockOf[], before: readonly Pick<Refund, 'status' | 'lines'>[]) => {
  const refundedLines = before.filter(isAssured).flatMap((refund) => refund.lines)
  return lines
    .filter(({ tracked }) => tracked)
    .map(({ id, variantId, quantity }) => ({
      variantId,
      quantity:
        quantity -
        sumOf(
          refundedLines.filter(({ lineId }) => lineId === id),
          'quantity',
        ),
    }))
    .filter(({ quantity }) => quantity > 0)
}

const sumOf = <Field extends 'amount' | 'quantity'>(all: readonly { readonly [Name in Field]: number }[], field: Field): number =>
  all.reduce((sum, one) => sum + one[field], 0)

/** What to book of a refund: money that went back or returned, and the share of gift cards. */
export type RefundBooking = { readonly money: 'back' | 'reversed' | undefined; readonly cards: boolean }

/**
 * Returns the ledger movements of a refund. Money that never was a sale is booked as it came and as it went. A refund
 * is paid by hand at most once, and reversed at most once, so each movement has its own key.
 */
export function movementsOf(refund: Refund, order: Order, { money, cards }: RefundBooking, now: number): Movement[] {
  const { id, amount, paymentId, giftCards, settledReference } = refund
  const common = commonOf(order, { currency: refund.currency, isSale: refund.purpose !== 'LATE_CAPTURE' }, now)
  const processor = refund.processor ?? 'gift_card'
  const moved = { ...common, processor, amount }
  const isBack = money === 'back' && amount > 0
  return [
    ...(isBack ? [{ ...moved, kind: 'REFUND' as const, key: `${settledReference === null ? 'refund' : 'refund-settled'}:${id}` }] : []),
    ...(isBack && !common.confirmed ? [{ ...moved, kind: 'CAPTURE' as const, key: `capture:${paymentId}:${id}` }] : []),
    ...(money === 'reversed' && amount > 0 ? [{ ...moved, kind: 'REFUND_REVERSED' as const, key: `refund-reversed:${id}` }] : []),
    ...(cards ? giftCards : []).map((share) => ({
      ...common,
      kind: 'GIFT_CARD_REFUND' as const,
      key: `gift-card-refund:${id}:${share.giftCardId}`,
      processor: 'gift_card',
      amount: share.amount,
    })),
  ]
}

/** Returns the fields of every movement of an order. A sale's movements use the rate of its confirmation day. */
export function commonOf(order: Order, { currency, isSale }: { currency: string; isSale: boolean }, now: number) {
  const confirmed = order.confirmedAt !== null && isSale
  return {
    shopId: order.shopId,
    orderId: order.id,
    // An order without a sale earns no commission.
    affiliateId: confirmed ? order.affiliateId : null,
    currency,
    at: now,
    rateDay: dayOf(confirmed && order.confirmedAt !== null ? order.confirmedAt : now),
    confirmed,
  }
}
