import type { Schema } from '../../lib/api/api.ts'

export type EventName = Schema<'WebhookEndpoint'>['events'][number]

/** All webhook events. The type fails if one is missing or removed. */
const eventFlags: Readonly<Record<EventName, true>> = {
  'order.confirmed': true,
  'order.cancelled': true,
  'order.partially_fulfilled': true,
  'order.fulfilled': true,
  'order.fulfilment_updated': true,
  'order.updated': true,
  'order.return_updated': true,
  'order.refunded': true,
  'order.refund_claimable': true,
  'order.refund_manual': true,
  'order.disputed': true,
  'stock.low': true,
  'customer.updated': true,
  'customer.erased': true,
}
export const eventNames = Object.keys(eventFlags) as readonly EventName[]
