import { index, instant, int, table, text, uniqueIndex } from '../columns.ts'
import { carts } from './selling.ts'
import { shops } from './shop.ts'

/** Orders that a shop has drawn up for somebody to pay: each is a cart with fixed prices, and goes with it. */
export const draftOrders = table(
  'draft_orders',
  {
    id: text('id').primaryKey(),
    shopId: text('shop_id')
      .notNull()
      .references(() => shops.id),
    cartId: text('cart_id')
      .notNull()
      .references(() => carts.id, { onDelete: 'cascade' }),
    /** The shop's own; no shopper sees it. */
    note: text('note'),
    /** How often its link was mailed, and when last. */
    sends: int('sends').notNull().default(0),
    sentAt: instant('sent_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Raised by whoever changes the record by hand, not by its shopper: what `ETag` and `If-Match` go by. */
    version: int('version').notNull().default(1),
  },
  (draft) => [uniqueIndex('draft_orders_cart').on(draft.cartId), index('draft_orders_shop').on(draft.shopId, draft.id)],
)
