import { type Money, moneyOf } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { lineTaxRate, shippingTaxRate } from '../../../lib/tax-rate.ts'
import { type Payment, paymentView } from '../../payments/payment/domain.ts'
import { orderDiscountView } from '../discount/domain.ts'
import {
  type Dispute,
  type Fulfilment,
  formerValueFields,
  type Order,
  type OrderEvent,
  type OrderGiftCard,
  type OrderLine,
  type OrderNote,
  type Refund,
  refundableTotal,
} from './domain.ts'
import { shownSentUnits, unitsOf } from './fulfilment/units.ts'

/** An order with all that it shows. */
export type FullOrder = {
  order: Order
  lines: readonly OrderLine[]
  giftCards: readonly OrderGiftCard[]
  events: readonly OrderEvent[]
  payments: readonly Payment[]
  refunds: readonly Refund[]
  disputes: readonly Dispute[]
  fulfilments: readonly Fulfilment[]
  notes: readonly OrderNote[]
}

/**
 * Returns an order as its shop and its customer see it.
 * @param publicUrl its page
 */
export function orderView(
  { order, lines, giftCards, events, payments: all, refunds: back, disputes, fulfilments, notes }: FullOrder,
  publicUrl: string,
) {
  const { currency } = order
  const units = new Map(unitsOf(order, lines, fulfilments, back).map((one) => [one.lineId, one]))
  const isOver = cannotBeSent.includes(order.status)
  return {
    ...pick(order, 'id', 'shopId', 'number', 'customerId', 'email', 'currency', 'mode', 'status', 'paymentStatus', 'fulfilmentStatus'),
    tags: order.tags,
    fromAbandonedCart: order.fromAbandonedCart,
    agent: order.agent && agentView(order.agent),
    publicUrl,
    lines: lines.map((line) => ({
      ...pick(line, 'id', 'productId', 'variantId', 'title', 'variantTitle', 'sku', 'quantity', 'giftCard'),
      fulfilledQuantity: shownSentUnits(order, line, units.get(line.id)),
      unfulfilledQuantity: isOver ? 0 : (units.get(line.id)?.left ?? 0),
      ...moneyOf({ ...line, currency }, 'unitPrice', 'total', 'discount'),
      tax: { rateBps: lineTaxRate(line), inclusive: line.taxInclusive, amount: { amount: line.taxAmount, currency } },
    })),
    ...moneyOf(order, 'subtotal', 'discountTotal', 'shippingTotal', 'taxTotal', 'taxIncluded', 'giftCardTotal'),
    ...moneyOf(order, 'total', 'amountDue'),
    ...moneyOf(order, 'capturedTotal', 'refundedTotal', 'giftCardRefundedTotal', 'shippingTax'),
    shippingTaxRate: shippingTaxRate(order),
    refundableTotal: { amount: refundableTotal(order, giftCards, back), currency },
    fxToUsd: order.fxToUsd,
    discounts: order.discounts.map((discount) => orderDiscountView(discount, currency)),
    giftCards: giftCards.map(({ giftCardId: id, last4, amount, refunded }) => ({
      id,
      last4,
      ...moneyOf({ amount, refunded, currency }, 'amount', 'refunded'),
    })),
    ...pick(order, 'shippingAddress', 'billingAddress', 'shippingMethod', 'giftCardRecipient'),
    affiliate: order.affiliateId === null ? null : { id: order.affiliateId, code: order.affiliateCode ?? '' },
    tracking: order.trackingNumber === null && order.carrier === null ? null : { number: order.trackingNumber, carrier: order.carrier },
    fulfilments: fulfilments.map(fulfilmentView),
    payments: all.map(paymentView),
    refunds: back.map(refundView),
    disputes: disputes.map(disputeView),
    notes: notes.map(noteView),
    events: events.map(({ type, at, detail }) => ({ type, ...isoTimes({ at }), detail: eventDetailView(detail, currency) })),
    ...isoTimes(pick(order, 'expiresAt', 'confirmedAt', 'createdAt', 'updatedAt')),
  }
}

/** Returns the platform whose agent bought, and the attribution that it sent. */
const agentView = ({ profile, attribution }: NonNullable<Order['agent']>) => ({ profile, ...(attribution ? { attribution } : {}) })

/** In these statuses nothing more is sent. */
export const cannotBeSent: readonly Order['status'][] = ['FULFILLED', 'COMPLETED', 'EXPIRED', 'COMPENSATING', 'CANCELLED']

/** Renders a fulfilment as the API shows it. */
export const fulfilmentView = (fulfilment: Fulfilment) => ({
  id: fulfilment.id,
  lines: fulfilment.lines.map((line) => pick(line, 'lineId', 'quantity')),
  ...pick(fulfilment, 'trackingNumber', 'carrier'),
  ...isoTimes(pick(fulfilment, 'createdAt', 'updatedAt')),
})
export type FulfilmentView = ReturnType<typeof fulfilmentView>

/** Renders a note of the shop's staff. */
export const noteView = (note: OrderNote) => ({ ...pick(note, 'id', 'text', 'actor'), ...isoTimes(pick(note, 'at')) })
export type NoteView = ReturnType<typeof noteView>

/** Every number in an event's detail is an amount in the order's currency. */
function eventDetailView({ currency: _, ...detail }: OrderEvent['detail'], currency: string): Record<string, string | Money> {
  const entries = Object.entries(detail)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'number' ? { amount: value, currency } : value]))
}
export type OrderView = ReturnType<typeof orderView>

/** Leaves out the staff's tags and their former values. */
export const withoutTags = (view: OrderView): OrderView => ({
  ...view,
  tags: [],
  events: view.events.map((event) => ({ ...event, detail: withoutDetails(event.detail, ['tags']) })),
})

/** Details of events that customers do not see: reasons and former values. */
const staffDetails = ['reason', ...formerValueFields]
const withoutDetails = (detail: OrderView['events'][number]['detail'], names: readonly string[]) =>
  Object.fromEntries(Object.entries(detail).filter(([name]) => !names.includes(name)))

/** Returns an order for its customer: without notes, tags, agent, reasons, former values and references of the shop. */
export const withoutReasons = (view: OrderView): OrderView => ({
  ...view,
  tags: [],
  agent: null,
  notes: [],
  payments: view.payments.map((payment) => (payment.method === 'manual' ? { ...payment, processorReference: null } : payment)),
  refunds: view.refunds.map((refund) => ({ ...refund, reason: null, settledReference: null })),
  events: view.events.map((event) => ({ ...event, detail: withoutDetails(event.detail, staffDetails) })),
})

/** Renders a refund; `amount` is all of it, `giftCardAmount` the part that goes to gift cards. */
export const refundView = (refund: Refund) => ({
  ...pick(refund, 'id', 'orderId', 'paymentId', 'processor', 'processorReference'),
  ...moneyOf({ ...refund, amount: refund.amount + refund.giftCardAmount }, 'amount', 'giftCardAmount'),
  lines: refund.lines.map(({ lineId, quantity, amount, restock, restocked }) => ({
    lineId,
    quantity,
    amount: { amount, currency: refund.currency },
    restock: restocked === undefined ? restock : restocked > 0,
  })),
  ...pick(refund, 'reason', 'status', 'failureCode'),
  // A redeemed or failed claim's URL leads nowhere.
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
