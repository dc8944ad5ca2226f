import { AppError } from '../../../../core/errors.ts'
import { dayOf } from '../../../../lib/day.ts'
import { shareOf } from '../../../../lib/rounding.ts'
import type { Movement } from '../../../payments/ledger/index.ts'
import { type Order, type OrderLine, type Refund, stands } from '../domain.ts'

/** So many of a line; `restock`: they go back on the shelf. */
export type RefundLineRequest = { readonly lineId: string; readonly quantity: number; readonly restock: boolean }
/** What somebody wants back: an amount in minor units, some of the lines, or all that is left. */
export type Asked = { readonly amount: number } | { readonly lines: readonly RefundLineRequest[] } | { readonly all: true }
export type RefundedLine = Refund['lines'][number]

/** What was paid for a line, in minor units: its total less discounts, and the tax that came on top of that. Shipping is of no line. */
export const amountPaidFor = ({
  total,
  discount,
  taxInclusive,
  taxAmount,
}: Pick<OrderLine, 'total' | 'discount' | 'taxInclusive' | 'taxAmount'>): number => total - discount + (taxInclusive ? 0 : taxAmount)

/** What a line's goods were worth without tax, in minor units: what a partner earns by. */
const netAmountOf = ({
  total,
  discount,
  taxInclusive,
  taxAmount,
}: Pick<OrderLine, 'total' | 'discount' | 'taxInclusive' | 'taxAmount'>): number => total - discount - (taxInclusive ? taxAmount : 0)

/**
 * What went back for goods by refunds of lines whose money has gone: `refunded` in all, for goods worth `back`, out of `of` of the order's.
 * @param refunds all of the order's
 */
export function goodsRefunded(lines: readonly OrderLine[], refunds: readonly Pick<Refund, 'status' | 'lines'>[]) {
  const gone = refunds.filter(({ status }) => status === 'SUCCEEDED').flatMap((refund) => refund.lines)
  const units = (id: string) =>
    sumOf(
      gone.filter(({ lineId }) => lineId === id),
      'quantity',
    )
  return {
    back: lines.reduce((sum, line) => sum + shareOf(netAmountOf(line), units(line.id), line.quantity), 0),
    of: lines.reduce((sum, line) => sum + netAmountOf(line), 0),
    refunded: sumOf(gone, 'amount'),
  }
}

/**
 * What goes back of each line that is asked for: of what was paid for it, the share of all its units that have gone back by then,
 * rounded half-even, less what went back for them before. So the last unit takes the rest, whichever refunds failed in between.
 * @param before the order's refunds: one that failed gave its units back, one under way has them
 * @throws AppError INVALID for a line that the order does not have, or that stands twice; CONFLICT for more than is left of one
 */
export function linesToRefund(
  lines: readonly OrderLine[],
  before: readonly Pick<Refund, 'status' | 'lines'>[],
  asked: readonly RefundLineRequest[],
): RefundedLine[] {
  const twice = asked.findIndex(({ lineId }, at) => asked.findIndex((one) => one.lineId === lineId) < at)
  if (twice >= 0) throw new AppError('INVALID', `lines.${twice}.lineId (body): each line may stand once only`)
  const gone = before.filter(({ status }) => status !== 'FAILED').flatMap((refund) => refund.lines)
  return asked.map(({ lineId, quantity, restock }, at) => {
    const line = lines.find(({ id }) => id === lineId)
    if (!line) throw new AppError('INVALID', `lines.${at}.lineId (body): no line of the order`)
    const ofLine = gone.filter((one) => one.lineId === lineId)
    const units = sumOf(ofLine, 'quantity') + quantity
    if (units > line.quantity) throw new AppError('CONFLICT', `lines.${at}.quantity (body): more of a line than is left of it to refund`)
    const due = shareOf(amountPaidFor(line), units, line.quantity) - sumOf(ofLine, 'amount')
    return { lineId, quantity, amount: Math.max(0, due), restock }
  })
}

/** How much is asked for, in minor units; undefined: all that is left. */
export function requestedAmount(asked: Asked, lines: readonly RefundedLine[]): number | undefined {
  if ('amount' in asked) return asked.amount
  return 'lines' in asked ? sumOf(lines, 'amount') : undefined
}

/** Whether a refund may be what such a request began. What all of it was at that time, nobody knows any more. */
export function isOf(asked: Asked, { amount, giftCardAmount, lines }: Pick<Refund, 'amount' | 'giftCardAmount' | 'lines'>): boolean {
  if ('lines' in asked)
    return (
      asked.lines.length === lines.length &&
      asked.lines.every(({ lineId, quantity, restock }, at) => {
        const line = lines[at]
        return line?.lineId === lineId && line.quantity === quantity && line.restock === restock
      })
    )
  return lines.length === 0 && (!('amount' in asked) || asked.amount === amount + giftCardAmount)
}

type StockOf = Pick<OrderLine, 'id' | 'variantId' | 'quantity' | 'tracked'>

/** What a refund puts back on the shelf: of the lines whose stock is counted. */
export const unitsToRestock = ({ lines: refunded }: Pick<Refund, 'lines'>, lines: readonly StockOf[]) =>
  refunded.flatMap(({ lineId, quantity, restock }) => {
    const line = restock ? lines.find(({ id, tracked }) => id === lineId && tracked) : undefined
    return line ? [{ variantId: line.variantId, quantity }] : []
  })

/** What is left to put back of an order that is cancelled: where units went back before, it was said then whether to the shelf. */
export const unrefundedUnits = (lines: readonly StockOf[], before: readonly Pick<Refund, 'status' | 'lines'>[]) => {
  const gone = before.filter(stands).flatMap((refund) => refund.lines)
  return lines
    .filter(({ tracked }) => tracked)
    .map(({ id, variantId, quantity }) => ({
      variantId,
      quantity:
        quantity -
        sumOf(
          gone.filter(({ lineId }) => lineId === id),
          'quantity',
        ),
    }))
    .filter(({ quantity }) => quantity > 0)
}

const sumOf = <Field extends 'amount' | 'quantity'>(all: readonly { readonly [Name in Field]: number }[], field: Field): number =>
  all.reduce((sum, one) => sum + one[field], 0)

/** What of a refund is booked: money that went back through its processor or by hand, or came back; and what gift cards got. */
export type Booked = { readonly money: 'back' | 'reversed' | undefined; readonly cards: boolean }

/**
 * What the projection is told: of money that was never a sale, that it came and that it went. A refund is paid by hand once at most, and
 * fails after it had succeeded once at most: each has a key of its own.
 */
export function movementsOf(refund: Refund, order: Order, { money, cards }: Booked, now: number): Movement[] {
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

/** What every movement of an order's money has, at the rate of the day of its confirmation where it is of a sale. */
export function commonOf(order: Order, { currency, isSale }: { currency: string; isSale: boolean }, now: number) {
  const confirmed = order.confirmedAt !== null && isSale
  return {
    shopId: order.shopId,
    orderId: order.id,
    // Of a sale: an order that came to nothing was nobody's doing.
    affiliateId: confirmed ? order.affiliateId : null,
    currency,
    at: now,
    rateDay: dayOf(confirmed && order.confirmedAt !== null ? order.confirmedAt : now),
    confirmed,
  }
}
