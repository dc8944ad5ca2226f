import { type Money, moneyOf } from '../../lib/money.ts'
import { isoTimes, pick } from '../../lib/records.ts'
import { orderDiscountView } from '../discount/domain.ts'
import { type Payment, paymentView } from '../payment/domain.ts'
import type { Dispute, Order, OrderEvent, OrderGiftCard, OrderLine, Refund } from './domain.ts'

/** Everything that an order is shown with. */
export type WholeOrder = {
  order: Order
  lines: readonly OrderLine[]
  giftCards: readonly OrderGiftCard[]
  events: readonly OrderEvent[]
  payments: readonly Payment[]
  refunds: readonly Refund[]
  disputes: readonly Dispute[]
}

/**
 * An order as its shop and its customer see it.
 * @param publicUrl of its page
 */
export function orderView({ order, lines, giftCards, events, payments: all, refunds: back, disputes }: WholeOrder, publicUrl: string) {
  const { currency } = order
  return {
    ...pick(order, 'id', 'shopId', 'number', 'customerId', 'email', 'currency', 'mode', 'status', 'paymentStatus', 'fulfilmentStatus'),
    publicUrl,
    lines: lines.map((line) => ({
      ...pick(line, 'id', 'productId', 'variantId', 'title', 'variantTitle', 'sku', 'quantity'),
      ...moneyOf({ ...line, currency }, 'unitPrice', 'total', 'discount'),
      tax: { rateBps: line.taxRateBps, inclusive: line.taxInclusive, amount: { amount: line.taxAmount, currency } },
    })),
    ...moneyOf(order, 'subtotal', 'discountTotal', 'shippingTotal', 'taxTotal', 'taxIncluded', 'giftCardTotal', 'total', 'amountDue'),
    ...moneyOf(order, 'capturedTotal', 'refundedTotal', 'giftCardRefundedTotal'),
    fxToUsd: order.fxToUsd,
    discounts: order.discounts.map((discount) => orderDiscountView(discount, currency)),
    giftCards: giftCards.map(({ giftCardId: id, last4, amount, refunded }) => ({
      id,
      last4,
      ...moneyOf({ amount, refunded, currency }, 'amount', 'refunded'),
    })),
    ...pick(order, 'shippingAddress', 'billingAddress', 'shippingMethod'),
    affiliate: order.affiliateId === null ? null : { id: order.affiliateId, code: order.affiliateCode ?? '' },
    tracking: order.trackingNumber === null && order.carrier === null ? null : { number: order.trackingNumber, carrier: order.carrier },
    payments: all.map(paymentView),
    refunds: back.map(refundView),
    disputes: disputes.map(disputeView),
    events: events.map(({ type, at, detail }) => ({ type, ...isoTimes({ at }), detail: told(detail, currency) })),
    ...isoTimes(pick(order, 'expiresAt', 'confirmedAt', 'createdAt', 'updatedAt')),
  }
}
/** Whatever is a number in what is kept of an event is an amount of the order's money. */
function told({ currency: _, ...detail }: OrderEvent['detail'], currency: string): Record<string, string | Money> {
  const entries = Object.entries(detail)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'number' ? { amount: value, currency } : value]))
}
export type OrderView = ReturnType<typeof orderView>

/** An order for its customer: why its shop gave money back, or cancelled it, and what it calls that in its own books, is written for the shop's own people. */
export const withoutReasons = (view: OrderView): OrderView => ({
  ...view,
  refunds: view.refunds.map((refund) => ({ ...refund, reason: null, settledReference: null })),
  events: view.events.map((event) => ({
    ...event,
    detail: Object.fromEntries(Object.entries(event.detail).filter(([name]) => name !== 'reason')),
  })),
})

/** A refund; `amount` is all of it, `giftCardAmount` the part that goes back to gift cards. */
export const refundView = (refund: Refund) => ({
  ...pick(refund, 'id', 'orderId', 'paymentId', 'processor', 'processorReference'),
  ...moneyOf({ ...refund, amount: refund.amount + refund.giftCardAmount }, 'amount', 'giftCardAmount'),
  lines: refund.lines.map(({ lineId, quantity, amount, restock }) => ({
    lineId,
    quantity,
    amount: { amount, currency: refund.currency },
    restock,
  })),
  ...pick(refund, 'reason', 'status', 'failureCode'),
  // Once it was redeemed, or cannot be any more, it leads nowhere.
  claimUrl: refund.status === 'CLAIMABLE' ? refund.claimUrl : null,
  settledReference: refund.settledReference,
  ...isoTimes(pick(refund, 'createdAt', 'updatedAt')),
})
export type RefundView = ReturnType<typeof refundView>

const disputeView = (dispute: Dispute) => ({
  ...pick(dispute, 'id', 'paymentId', 'reference'),
  ...moneyOf(dispute, 'amount'),
  status: dispute.status,
  ...isoTimes(pick(dispute, 'createdAt', 'updatedAt')),
})
