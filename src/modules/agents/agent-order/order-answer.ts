/** Renders orders as the protocol shows them: the current state. Pure. */
import { plainText } from '../../../lib/plain-text.ts'
import { envelopeOf, type Platform } from '../../../lib/ucp/call.ts'
import { lineTotalsOf, totalsOf } from '../../../lib/ucp/totals.ts'
import type { Dispute, OrderLine, Refund } from '../../selling/order/domain.ts'
import { type FullOrder, unitsOf } from '../../selling/order/index.ts'
import { type AgentSession, lineTitleOf, selectedDestinationOf, titleMax } from '../agent-session/domain.ts'

/** An order that a platform placed. */
export type AgentOrderFacts = {
  readonly full: FullOrder
  /** The checkout session that became it. */
  readonly session: Pick<AgentSession, 'id' | 'profile' | 'isProven' | 'request'>
  /** The page of the order. */
  readonly permalinkUrl: string
}

type LineState = { readonly line: OrderLine; readonly total: number; readonly fulfilled: number; readonly canceled: number }

/** Counts the units of each line that are still ordered, were sent, and were removed by a cancellation. */
function lineStatesOf({ order, lines, fulfilments, refunds }: FullOrder): LineState[] {
  const isCanceled = order.status === 'CANCELLED'
  const ofCancellation = ({ purpose }: Refund) => purpose === 'CANCEL' || purpose === 'COMPENSATE'
  const units = unitsOf(order, lines, fulfilments, isCanceled ? refunds.filter((refund) => !ofCancellation(refund)) : refunds)
  return lines.map((line, at) => {
    const { sent = 0, left: unsent = 0 } = units[at] ?? {}
    // Gift cards are mailed as soon as the order is confirmed.
    if (line.giftCard && !isCanceled)
      return { line, total: line.quantity, fulfilled: order.confirmedAt === null ? 0 : line.quantity, canceled: 0 }
    if (line.giftCard) return { line, total: 0, fulfilled: 0, canceled: line.quantity }
    return isCanceled
      ? { line, total: sent, fulfilled: sent, canceled: unsent }
      : { line, total: sent + unsent, fulfilled: sent, canceled: 0 }
  })
}

function lineItemView({ line, total, fulfilled }: LineState) {
  const status = total === 0 ? 'removed' : fulfilled >= total ? 'fulfilled' : fulfilled > 0 ? 'partial' : 'processing'
  return {
    id: line.id,
    item: { id: line.variantId, title: lineTitleOf(line.title, line.variantTitle), price: line.unitPrice },
    quantity: { original: line.quantity, total, fulfilled },
    totals: lineTotalsOf(line.total, line.discount),
    status,
  }
}

/**
 * Returns the destination of the order: as the platform sent it, or only the country of an address that a person
 * entered elsewhere.
 */
function destinationOf({ session, full: { order } }: AgentOrderFacts): Record<string, string> {
  const { id: _, ...sent } = selectedDestinationOf(session.request) ?? { id: '' }
  if (Object.keys(sent).length > 0) return sent
  return order.shippingAddress ? { address_country: order.shippingAddress.countryCode } : {}
}

function expectationsOf(facts: AgentOrderFacts, states: readonly LineState[]) {
  const lines = states.filter(({ total }) => total > 0)
  if (lines.length === 0) return []
  const { shippingAddress, shippingMethod } = facts.full.order
  return [
    {
      id: 'exp_1',
      line_items: lines.map(({ line, total }) => ({ id: line.id, quantity: total })),
      method_type: shippingAddress ? 'shipping' : 'digital',
      destination: destinationOf(facts),
      ...(shippingMethod === null ? {} : { description: plainText(shippingMethod.title, titleMax) }),
    },
  ]
}

const eventsOf = ({ fulfilments }: FullOrder) =>
  fulfilments.map(({ id, lines, trackingNumber, carrier, createdAt }) => ({
    id,
    occurred_at: timeOf(createdAt),
    type: 'shipped',
    line_items: lines.map(({ lineId, quantity }) => ({ id: lineId, quantity })),
    ...(trackingNumber === null ? {} : { tracking_number: plainText(trackingNumber, titleMax) }),
    ...(carrier === null ? {} : { carrier: plainText(carrier, titleMax) }),
  }))

const refundStatus = { PENDING: 'pending', SUCCEEDED: 'completed', FAILED: 'failed', CLAIMABLE: 'pending', MANUAL: 'pending' } as const
const disputeStatus = { OPEN: 'pending', WON: 'failed', LOST: 'completed' } as const
const timeOf = (ms: number): string => new Date(ms).toISOString()

/** Changes after the purchase, oldest first. Refunded amounts and removed units are negative. */
function adjustmentsOf({ order, refunds, disputes, events }: FullOrder, states: readonly LineState[]) {
  const negativeLines = (lines: readonly { readonly id: string; readonly quantity: number }[]) =>
    lines.length === 0 ? {} : { line_items: lines.map(({ id, quantity }) => ({ id, quantity: -quantity })) }
  const negativeTotal = (amount: number) => ({ totals: [{ type: 'total', amount: -amount }] })
  const canceled = states.filter((state) => state.canceled > 0).map(({ line, canceled: quantity }) => ({ id: line.id, quantity }))
  const canceledAt = events.findLast(({ type }) => type === 'CANCELLED')?.at ?? order.updatedAt
  const adjustments = [
    ...(order.status === 'CANCELLED'
      ? [{ at: canceledAt, id: `${order.id}_cancellation`, type: 'cancellation', status: 'completed', ...negativeLines(canceled) }]
      : []),
    ...refunds.map(({ id, createdAt, status, amount, giftCardAmount, lines }: Refund) => ({
      ...{ at: createdAt, id, type: 'refund', status: refundStatus[status] },
      ...negativeLines(lines.map(({ lineId, quantity }) => ({ id: lineId, quantity }))),
      ...negativeTotal(amount + giftCardAmount),
    })),
    ...disputes.map(({ id, createdAt, status, amount }: Dispute) => ({
      ...{ at: createdAt, id, type: 'dispute', status: disputeStatus[status] },
      ...negativeTotal(amount),
    })),
  ]
  return adjustments.toSorted((a, b) => a.at - b.at).map(({ at, ...adjustment }) => ({ ...adjustment, occurred_at: timeOf(at) }))
}

/** Renders an order. The same facts give the same text. */
export function orderAnswer(facts: AgentOrderFacts, platform: Pick<Platform, 'release' | 'capabilities'>) {
  const { full, session, permalinkUrl } = facts
  const { order, lines } = full
  const states = lineStatesOf(full)
  const adjustments = adjustmentsOf(full, states)
  const attribution = order.agent?.attribution ?? null
  const freeShipping = order.discounts.filter(({ kind }) => kind === 'FREE_SHIPPING').reduce((sum, { amount }) => sum + amount, 0)
  const amounts = { itemsDiscount: order.discountTotal, freeShipping, shipping: order.shippingTotal, tax: order.taxTotal }
  return {
    ucp: envelopeOf(platform, 'order'),
    id: order.id,
    label: String(order.number),
    checkout_id: session.id,
    permalink_url: permalinkUrl,
    currency: order.currency,
    line_items: states.map(lineItemView),
    totals: totalsOf({ subtotal: order.subtotal, total: order.total, ...amounts }, order.shippingMethod !== null && lines.length > 0),
    fulfillment: { expectations: expectationsOf(facts, states), events: eventsOf(full) },
    ...(adjustments.length === 0 ? {} : { adjustments }),
    ...(attribution === null ? {} : { attribution }),
  }
}
export type OrderAnswer = ReturnType<typeof orderAnswer>
