import { sql } from 'drizzle-orm'
import { index, instant, int, json, money, primaryKey, table, text, uniqueIndex, word } from '../columns.ts'
import { shops } from './shop.ts'

export const discounts = table(
  'discounts',
  {
    id: text('id').primaryKey(),
    shopId: text('shop_id')
      .notNull()
      .references(() => shops.id),
    title: text('title').notNull(),
    /** As the shop writes it; null for one that counts by itself. */
    code: text('code'),
    /** The code as codes are compared; null also once the discount is removed, so that another may have it. */
    codeKey: text('code_key'),
    kind: word('kind', ['PERCENT', 'FIXED', 'FREE_SHIPPING']).notNull(),
    /** Of a PERCENT one. */
    valueBps: int('value_bps'),
    /** Of a FIXED one. */
    amount: money('amount'),
    minSubtotal: money('min_subtotal'),
    /** Of its amounts; null where it has none. */
    currency: text('currency'),
    /** What it is of: these products and those of these collections; all of them where both are null. No references: what is gone is in no cart. */
    productIds: json<string[] | null>('product_ids'),
    collectionIds: json<string[] | null>('collection_ids'),
    startsAt: instant('starts_at'),
    endsAt: instant('ends_at'),
    usageLimit: int('usage_limit'),
    perCustomerLimit: int('per_customer_limit'),
    status: word('status', ['ACTIVE', 'DISABLED']).notNull(),
    /** How many of its uses count towards `usageLimit`. Nobody keeps it where there is none, so that orders share no row. */
    used: int('used').notNull().default(0),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** From then on it is nobody's any more, and stays while orders may still say that they have used it. */
    removedAt: instant('removed_at'),
    /** Raised by whoever changes the record by hand, not by its uses: what `ETag` and `If-Match` go by. */
    version: int('version').notNull().default(1),
  },
  (discount) => [
    uniqueIndex('discounts_code').on(discount.shopId, discount.codeKey),
    index('discounts_shop').on(discount.shopId, discount.id).where(sql`removed_at is null`),
    index('discounts_automatic').on(discount.shopId, discount.id).where(sql`code_key is null and status = 'ACTIVE' and removed_at is null`),
    index('discounts_removed').on(discount.removedAt).where(sql`removed_at is not null`),
  ],
)

/** A discount that an order has, for as long as the order may be one: it goes when that comes to nothing. */
export const discountUses = table(
  'discount_uses',
  {
    discountId: text('discount_id')
      .notNull()
      .references(() => discounts.id),
    orderId: text('order_id').notNull(),
    /** Whose order it is: a customer's id, else a keyed hash of the e-mail address. */
    customer: text('customer').notNull(),
    /** Of the order: uses of test orders limit no others. */
    mode: word('mode', ['TEST', 'LIVE']).notNull(),
    at: instant('at').notNull(),
  },
  (use) => [
    primaryKey({ columns: [use.orderId, use.discountId] }),
    index('discount_uses_customer').on(use.discountId, use.mode, use.customer),
  ],
)
