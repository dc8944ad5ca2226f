import { bool, enumText, index, instant, json, reference, table, text } from '../columns.ts'
import { orders } from './selling.ts'
import { shops } from './shop.ts'

/** Goods of an order that a shopper sends back. The order's lock covers its rows. */
export const returns = table(
  'returns',
  {
    id: text('id').primaryKey(),
    orderId: reference('order_id', () => orders.id),
    shopId: reference('shop_id', () => shops.id),
    status: enumText('status', ['REQUESTED', 'APPROVED', 'REJECTED', 'RECEIVED']).notNull(),
    /** Units per line, with the reasons of who asked; units are immutable. */
    lines: json<{ lineId: string; quantity: number; reason: string }[]>('lines').notNull(),
    requestedBy: enumText('requested_by', ['SHOPPER', 'SHOP']).notNull(),
    /** Why the shop rejected it. */
    rejection: text('rejection'),
    /** Whether the received units went back to stock. */
    restocked: bool('restocked').notNull().default(false),
    /** The refund that was made when it was received. */
    refundId: text('refund_id'),
    /** Hash of the idempotency key of the request that received it. */
    attemptKey: text('attempt_key'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (row) => [
    index('returns_order').on(row.orderId, row.id),
    index('returns_shop').on(row.shopId, row.id),
    index('returns_status').on(row.shopId, row.status, row.id),
  ],
)
