import { index, instant, int, reference, table, text, uniqueIndex } from '../columns.ts'
import { carts } from './selling.ts'
import { shops } from './shop.ts'

/** Draft orders. Each is a cart with fixed prices and is deleted with it. */
export const draftOrders = table(
  'draft_orders',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    cartId: reference('cart_id', () => carts.id, { onDelete: 'cascade' }),
    /** Internal note; shoppers do not see it. */
    note: text('note'),
    /** How often, and when, the link was mailed. */
    sends: int('sends').notNull().default(0),
    sentAt: instant('sent_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Increases with management changes. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
  },
  (draft) => [uniqueIndex('draft_orders_cart').on(draft.cartId), index('draft_orders_shop').on(draft.shopId, draft.id)],
)
