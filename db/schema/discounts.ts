import { sql } from 'drizzle-orm'
import { enumText, index, instant, int, json, money, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'
import { shops } from './shop.ts'

export const discounts = table(
  'discounts',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    title: text('title').notNull(),
    /** As the shop writes it; null for an automatic discount. */
    code: text('code'),
    /** The normalized code; null after deletion, so that the code can be reused. */
    codeKey: text('code_key'),
    kind: enumText('kind', ['PERCENT', 'FIXED', 'FREE_SHIPPING']).notNull(),
    /** For PERCENT. */
    valueBps: int('value_bps'),
    /** For FIXED. */
    amount: money('amount'),
    minSubtotal: money('min_subtotal'),
    /** Currency of its amounts; null without amounts. */
    currency: text('currency'),
    /**
     * Products and collections it applies to; all if both are null. No references, because deleted ones are in no cart.
     */
    productIds: json<string[] | null>('product_ids'),
    collectionIds: json<string[] | null>('collection_ids'),
    startsAt: instant('starts_at'),
    endsAt: instant('ends_at'),
    usageLimit: int('usage_limit'),
    perCustomerLimit: int('per_customer_limit'),
    status: enumText('status', ['ACTIVE', 'DISABLED']).notNull(),
    /**
     * Number of uses that count towards `usageLimit`. Not maintained without a limit, so that orders do not contend on
     * the row.
     */
    used: int('used').notNull().default(0),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Set at deletion. The row stays while orders refer to it. */
    removedAt: instant('removed_at'),
    /** Increases with management changes, not with uses. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
  },
  (discount) => [
    uniqueIndex('discounts_code').on(discount.shopId, discount.codeKey),
    index('discounts_shop').on(discount.shopId, discount.id).where(sql`removed_at is null`),
    index('discounts_automatic').on(discount.shopId, discount.id).where(sql`code_key is null and status = 'ACTIVE' and removed_at is null`),
    index('discounts_removed').on(discount.removedAt).where(sql`removed_at is not null`),
  ],
)

/** A discount of an order. Deleted when the order fails. */
export const discountUses = table(
  'discount_uses',
  {
    discountId: reference('discount_id', () => discounts.id),
    orderId: text('order_id').notNull(),
    /** The shopper: a customer id, or a keyed hash of the e-mail address. */
    customer: text('customer').notNull(),
    /** Mode of the order. Uses by test orders do not limit live orders. */
    mode: enumText('mode', ['TEST', 'LIVE']).notNull(),
    at: instant('at').notNull(),
  },
  (use) => [
    primaryKey({ columns: [use.orderId, use.discountId] }),
    index('discount_uses_customer').on(use.discountId, use.mode, use.customer),
  ],
)
