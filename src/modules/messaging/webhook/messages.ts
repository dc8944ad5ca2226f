/**
 * Schemas of the `data` of webhook messages. They type `enqueueMessage` and appear in the OpenAPI document, so the two
 * cannot differ.
 */
import type { Static, TSchema } from '@sinclair/typebox'
import { t } from 'elysia'
import { fieldsOf, integer, MoneySchema, nullable, oneOf } from '../../../core/schema.ts'
import { disputeStatuses } from '../../selling/order/domain.ts'
import type { WebhookEvent } from './domain.ts'

const orderFields = {
  orderId: t.String(),
  number: integer({ minimum: 1, description: 'The number of the order in its shop' }),
}
const reason = nullable(t.String({ description: 'As the shop gave it' }))
const fulfilmentSchema = t.Object(
  {
    id: t.String(),
    lines: t.Array(t.Object({ lineId: t.String(), quantity: integer({ minimum: 1 }) })),
    ...fieldsOf(nullable(t.String()), 'trackingNumber', 'carrier'),
  },
  { title: 'SentParcel' },
)
const manualRefundFields = {
  id: t.String(),
  amount: t.Object(MoneySchema.properties, { description: 'What is still to be paid: gift cards have their part already' }),
  reason,
}

export const messageData = {
  'order.confirmed': t.Object(
    {
      ...orderFields,
      customerId: nullable(t.String({ description: 'Null for a guest' })),
      email: nullable(t.String()),
      total: MoneySchema,
      lines: t.Array(t.Object({ ...fieldsOf(t.String(), 'productId', 'variantId'), quantity: integer({ minimum: 1 }) })),
    },
    { title: 'OrderConfirmedMessage', description: 'An order is paid, and everything about it is done' },
  ),
  'order.refunded': t.Object(
    {
      ...orderFields,
      refund: t.Object({
        id: t.String(),
        amount: t.Object(MoneySchema.properties, { description: 'All of it: through the processor and back to gift cards' }),
        reason,
      }),
    },
    { title: 'OrderRefundedMessage', description: 'Money of an order went back' },
  ),
  'order.refund_claimable': t.Object(
    {
      ...orderFields,
      refund: t.Object({
        ...manualRefundFields,
        claimUrl: nullable(t.String({ description: 'Where the shopper fetches the money: whoever has this link has the money' })),
      }),
    },
    { title: 'OrderRefundClaimableMessage', description: 'Money of an order waits for the shopper to fetch it' },
  ),
  'order.refund_manual': t.Object(
    {
      ...orderFields,
      refund: t.Object({
        ...manualRefundFields,
        failureCode: nullable(t.String({ description: 'Why the processor does not do it, in its word' })),
      }),
    },
    { title: 'OrderRefundManualMessage', description: 'Money of an order must be paid back by hand, since its processor does not do it' },
  ),
  'order.cancelled': t.Object({ ...orderFields, reason }, { title: 'OrderCancelledMessage', description: 'An order was cancelled' }),
  'order.partially_fulfilled': t.Object(
    { ...orderFields, fulfilment: fulfilmentSchema },
    { title: 'OrderPartiallyFulfilledMessage', description: 'A part of an order was sent, and another is still to be' },
  ),
  'order.fulfilled': t.Object(
    {
      ...orderFields,
      ...fieldsOf(nullable(t.String()), 'trackingNumber', 'carrier'),
      fulfilment: nullable(fulfilmentSchema),
    },
    {
      title: 'OrderFulfilledMessage',
      description:
        'Nothing of an order is left to send: all of it was sent or refunded. `fulfilment` is its last parcel; null where a refund took what was still to be sent, also when nothing was sent',
    },
  ),
  'order.fulfilment_updated': t.Object(
    { ...orderFields, fulfilment: fulfilmentSchema },
    { title: 'OrderFulfilmentUpdatedMessage', description: 'The tracking of a parcel was corrected' },
  ),
  'order.disputed': t.Object(
    {
      ...orderFields,
      dispute: t.Object({
        id: t.String(),
        reference: t.String({ description: "The processor's name for it" }),
        amount: MoneySchema,
        status: oneOf(disputeStatuses, { description: 'OPEN: the bank took the money. WON: it gave it again. LOST: it keeps it' }),
      }),
    },
    { title: 'OrderDisputedMessage', description: "The shopper's bank took money of an order back, gave it again, or keeps it" },
  ),
  'stock.low': t.Object(
    {
      ...fieldsOf(t.String(), 'productId', 'variantId', 'title', 'variantTitle'),
      sku: nullable(t.String()),
      onHand: integer({ description: 'After the write by which there are few' }),
      reserved: integer({ description: 'Of those on hand, promised to orders that are not complete' }),
      lowStockAt: integer(),
    },
    {
      title: 'StockLowMessage',
      description:
        'As many of a variant are on hand as its `lowStockAt` says, or fewer, and were more before: once each time. By a sale, by hand, by an import, and by a change of `lowStockAt` itself',
    },
  ),
  'customer.erased': t.Object(
    { customerId: t.String() },
    {
      title: 'CustomerErasedMessage',
      description: 'The personal data of a customer was erased: whoever keeps a copy of it erases it too. Nothing but the id is told',
    },
  ),
} as const satisfies Record<WebhookEvent, TSchema>

export type MessageData = { [Event in WebhookEvent]: Static<(typeof messageData)[Event]> }
