import type { Money } from '../../lib/money.ts'
import { type Payment, paymentView } from '../payment/domain.ts'
import type { Order, OrderEvent, OrderGiftCard, OrderLine, Refund } from './domain.ts'

/** Everything that an order is shown with. */
export type WholeOrder = {
  order: Order
  lines: readonly OrderLine[]
  giftCards: readonly OrderGiftCard[]
  events: readonly OrderEvent[]
  payments: readonly Payment[]
  refunds: readonly Refund[]
}

const iso = (ms: number) => new Date(ms).toISOString()
const maybeIso = (ms: number | null) => (ms === null ? null : iso(ms))
const moneyIn =
  (currency: string) =>
  (amount: number): Money => ({ amount, currency })

/** An order as its shop and its customer see it. */
export function orderView({ order, lines, giftCards, events, payments: all, refunds: back }: WholeOrder) {
  const money = moneyIn(order.currency)
  return {
    id: order.id,
    shopId: order.shopId,
    number: order.number,
    customerId: order.customerId,
    email: order.email,
    currency: order.currency,
    status: order.status,
    paymentStatus: order.paymentStatus,
    fulfilmentStatus: order.fulfilmentStatus,
    lines: lines.map((line) => ({
      id: line.id,
      productId: line.productId,
      variantId: line.variantId,
      title: line.title,
      variantTitle: line.variantTitle,
      sku: line.sku,
      quantity: line.quantity,
      unitPrice: money(line.unitPrice),
      total: money(line.total),
      tax: { rateBps: line.taxRateBps, inclusive: line.taxInclusive, amount: money(line.taxAmount) },
    })),
    subtotal: money(order.subtotal),
    discountTotal: money(order.discountTotal),
    shippingTotal: money(order.shippingTotal),
    taxTotal: money(order.taxTotal),
    taxIncluded: money(order.taxIncluded),
    giftCardTotal: money(order.giftCardTotal),
    total: money(order.total),
    amountDue: money(order.amountDue),
    capturedTotal: money(order.capturedTotal),
    refundedTotal: money(order.refundedTotal),
    giftCardRefundedTotal: money(order.giftCardRefundedTotal),
    fxToUsd: order.fxToUsd,
    giftCards: giftCards.map(({ giftCardId, last4, amount, refunded }) => ({
      id: giftCardId,
      last4,
      amount: money(amount),
      refunded: money(refunded),
    })),
    shippingAddress: order.shippingAddress,
    billingAddress: order.billingAddress,
    shippingMethod: order.shippingMethod,
    affiliate: order.affiliateId === null ? null : { id: order.affiliateId, code: order.affiliateCode ?? '' },
    tracking: order.trackingNumber === null && order.carrier === null ? null : { number: order.trackingNumber, carrier: order.carrier },
    payments: all.map(paymentView),
    refunds: back.map(refundView),
    events: events.map(({ type, at, detail }) => ({ type, at: iso(at), detail })),
    expiresAt: iso(order.expiresAt),
    confirmedAt: maybeIso(order.confirmedAt),
    createdAt: iso(order.createdAt),
    updatedAt: iso(order.updatedAt),
  }
}
export type OrderView = ReturnType<typeof orderView>

/** An order for its customer: why its shop gave money back, or cancelled it, is written for the shop's own people. */
export const withoutReasons = (view: OrderView): OrderView => ({
  ...view,
  refunds: view.refunds.map((refund) => ({ ...refund, reason: null })),
  events: view.events.map((event) => ({
    ...event,
    detail: Object.fromEntries(Object.entries(event.detail).filter(([name]) => name !== 'reason')),
  })),
})

/** A refund; `amount` is all of it, `giftCardAmount` the part that goes back to gift cards. */
export const refundView = (refund: Refund) => {
  const money = moneyIn(refund.currency)
  return {
    id: refund.id,
    orderId: refund.orderId,
    paymentId: refund.paymentId,
    processor: refund.processor,
    processorReference: refund.processorReference,
    amount: money(refund.amount + refund.giftCardAmount),
    giftCardAmount: money(refund.giftCardAmount),
    reason: refund.reason,
    status: refund.status,
    failureCode: refund.failureCode,
    createdAt: iso(refund.createdAt),
    updatedAt: iso(refund.updatedAt),
  }
}
export type RefundView = ReturnType<typeof refundView>
