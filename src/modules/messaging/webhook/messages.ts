/**
 * Schemas of the `data` of webhook messages. They type `enqueueMessage` and appear in the OpenAPI document, so the two
 * cannot differ.
 */
import type { Static, TSchema } from '@sinclair/typebox'
import { t } from 'elysia'
import { fieldsOf, integer, MoneySchema, nullable, oneOf } from '../../../core/schema.ts'
import { disputeStatuses } from '../../selling/order/domain.ts'
import { returnStatuses } from '../../selling/order-return/domain.ts'
import type { WebhookEvent } from './domain.ts'

const orderFields = {
  orderId: t.String(),
  number: integer({ minimum: 1, description: 'Number of the order in its shop' }),
}
const reason = nullable(t.String({ description: 'As the shop entered it' }))
const fulfilmentSchema = t.Object(
  {
    id: t.String(),
    lines: t.Array(t.Object({ lineId: t.String(), quantity: integer({ minimum: 1 }) })),
    ...fieldsOf(nullable(t.String()), 'trackingNumber', 'carrier'),
  },
  { title: 'FulfilmentSummary' },
)
const manualRefundFields = {
  id: t.String(),
  amount: t.Object(MoneySchema.properties, { description: 'Amount left to pay after gift cards' }),
  reason,
}

/** The values may be personal, so messages have names only. */
const namesOnly = { description: 'Names of changed fields' }

export const messageData = {
  'order.confirmed': t.Object(
    {
      ...orderFields,
      customerId: nullable(t.String({ description: 'Null for a guest' })),
      email: nullable(t.String()),
      total: MoneySchema,
      lines: t.Array(t.Object({ ...fieldsOf(t.String(), 'productId', 'variantId'), quantity: integer({ minimum: 1 }) })),
    },
    { title: 'OrderConfirmedMessage', description: 'An order was paid and confirmed' },
  ),
  'order.refunded': t.Object(
    {
      ...orderFields,
      refund: t.Object({
        id: t.String(),
        amount: t.Object(MoneySchema.properties, { description: 'The whole refund, including gift cards' }),
        reason,
      }),
    },
    { title: 'OrderRefundedMessage', description: 'A refund of an order succeeded' },
  ),
  'order.refund_claimable': t.Object(
    {
      ...orderFields,
      refund: t.Object({
        ...manualRefundFields,
        claimUrl: nullable(
          t.String({ description: 'Page on which the shopper collects the money. A secret: anyone who has the link gets the money' }),
        ),
      }),
    },
    { title: 'OrderRefundClaimableMessage', description: 'The shopper has to collect a refund' },
  ),
  'order.refund_manual': t.Object(
    {
      ...orderFields,
      refund: t.Object({
        ...manualRefundFields,
        failureCode: nullable(t.String({ description: "The processor's reason" })),
      }),
    },
    { title: 'OrderRefundManualMessage', description: 'A refund must be paid by hand, because the processor cannot make it' },
  ),
  'order.cancelled': t.Object({ ...orderFields, reason }, { title: 'OrderCancelledMessage', description: 'An order was cancelled' }),
  'order.partially_fulfilled': t.Object(
    { ...orderFields, fulfilment: fulfilmentSchema },
    { title: 'OrderPartiallyFulfilledMessage', description: 'A part of an order was fulfilled' },
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
        'An order was fulfilled: everything was sent or refunded. `fulfilment` is the last one, or null if a refund took what was left',
    },
  ),
  'order.fulfilment_updated': t.Object(
    { ...orderFields, fulfilment: fulfilmentSchema },
    { title: 'OrderFulfilmentUpdatedMessage', description: 'The tracking of a fulfilment was updated' },
  ),
  'order.updated': t.Object(
    { ...orderFields, changed: t.Array(oneOf(['email', 'shippingAddress', 'billingAddress', 'tags']), namesOnly) },
    { title: 'OrderUpdatedMessage', description: 'The e-mail address, an address or the tags of an order were changed. Read the order' },
  ),
  'order.return_updated': t.Object(
    {
      ...orderFields,
      return: t.Object({
        id: t.String(),
        status: oneOf(returnStatuses),
        lines: t.Array(t.Object({ lineId: t.String(), quantity: integer({ minimum: 1 }) })),
        refundId: nullable(t.String({ description: 'The refund that was requested when it was received' })),
      }),
    },
    { title: 'OrderReturnUpdatedMessage', description: 'A return of an order was requested, approved, rejected or received' },
  ),
  'order.disputed': t.Object(
    {
      ...orderFields,
      dispute: t.Object({
        id: t.String(),
        reference: t.String({ description: "The processor's id" }),
        amount: MoneySchema,
        status: oneOf(disputeStatuses, {
          description: 'OPEN: the bank took the money. WON: the bank returned it. LOST: the bank keeps it',
        }),
      }),
    },
    { title: 'OrderDisputedMessage', description: 'A dispute of an order was opened, won or lost' },
  ),
  'stock.low': t.Object(
    {
      ...fieldsOf(t.String(), 'productId', 'variantId', 'title', 'variantTitle'),
      sku: nullable(t.String()),
      onHand: integer({ description: 'After the change' }),
      reserved: integer({ description: 'Units on hand that are reserved for orders that are not complete' }),
      lowStockAt: integer(),
    },
    {
      title: 'StockLowMessage',
      description:
        'The stock of a variant fell to its `lowStockAt` or below, by a sale, a person, an import or a change of `lowStockAt`. Sent once each time',
    },
  ),
  'customer.updated': t.Object(
    { customerId: t.String(), changed: t.Array(oneOf(['email', 'name', 'phone', 'acceptsMarketing', 'note', 'tags']), namesOnly) },
    { title: 'CustomerUpdatedMessage', description: 'A customer was changed by the shop or by themselves. Read the customer' },
  ),
  'customer.erased': t.Object(
    { customerId: t.String() },
    {
      title: 'CustomerErasedMessage',
      description: 'The personal data of a customer was erased. Erase your copies too. The message contains the id only',
    },
  ),
} as const satisfies Record<WebhookEvent, TSchema>

export type MessageData = { [Event in WebhookEvent]: Static<(typeof messageData)[Event]> }
