import { sql } from 'drizzle-orm'
import { bool, index, instant, int, money, primaryKey, table, text, uniqueIndex, word } from '../columns.ts'
import { orders } from './selling.ts'
import { shops } from './shop.ts'

const shopId = () =>
  text('shop_id')
    .notNull()
    .references(() => shops.id)

/** Partners who send shoppers to a shop. */
export const affiliates = table(
  'affiliates',
  {
    id: text('id').primaryKey(),
    shopId: shopId(),
    name: text('name').notNull(),
    /** Lower case, unique in its shop. */
    code: text('code').notNull(),
    rateBps: int('rate_bps').notNull(),
    active: bool('active').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Raised by whoever changes the record by hand: what `ETag` and `If-Match` go by. */
    version: int('version').notNull().default(1),
  },
  (affiliate) => [
    uniqueIndex('affiliates_code').on(affiliate.shopId, affiliate.code),
    index('affiliates_shop').on(affiliate.shopId, affiliate.id),
  ],
)

export const affiliateClicks = table(
  'affiliate_clicks',
  {
    id: text('id').primaryKey(),
    affiliateId: text('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    at: instant('at').notNull(),
  },
  (click) => [index('affiliate_clicks_affiliate').on(click.affiliateId, click.at), index('affiliate_clicks_at').on(click.at)],
)

/** What a partner earns by an order: pending until the refund window has passed. */
export const commissions = table(
  'commissions',
  {
    orderId: text('order_id')
      .primaryKey()
      .references(() => orders.id),
    affiliateId: text('affiliate_id')
      .notNull()
      .references(() => affiliates.id),
    shopId: shopId(),
    currency: text('currency').notNull(),
    /** As the order earned it. */
    amount: money('amount').notNull(),
    /** Taken back by refunds, in proportion. */
    reversed: money('reversed').notNull(),
    status: word('status', ['PENDING', 'APPROVED', 'REVERSED']).notNull(),
    /** The end of the refund window. */
    approvesAt: instant('approves_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (row) => [index('commissions_affiliate').on(row.affiliateId, row.createdAt), index('commissions_due').on(row.status, row.approvesAt)],
)

/** What one major unit of a currency was worth on a day (UTC), as a decimal number in text. */
export const fxRates = table(
  'fx_rates',
  {
    day: text('day').notNull(),
    currency: text('currency').notNull(),
    usdPerUnit: text('usd_per_unit').notNull(),
    /** `peg`, or where it was read. */
    source: text('source').notNull(),
  },
  (rate) => [primaryKey({ columns: [rate.currency, rate.day] })],
)

/**
 * Every movement of money in one place, a row each: what processors captured, what gift cards settled, what was refunded.
 * Every figure of the operator's dashboards is computed from it.
 */
export const unifiedTransactions = table(
  'unified_transactions',
  {
    id: text('id').primaryKey(),
    /** Names the movement, so that it stands here once: `capture:pay_…`, `gift-card:order_…:gift_…`, `refund:ref_…`, `dispute:disp_…`. */
    key: text('key').notNull(),
    /**
     * REFUND_REVERSED: a refund that had gone back came back from the shopper's bank. DISPUTE: the shopper's bank took the money back;
     * DISPUTE_WON: it gave it again.
     */
    kind: word('kind', ['CAPTURE', 'GIFT_CARD', 'REFUND', 'GIFT_CARD_REFUND', 'REFUND_REVERSED', 'DISPUTE', 'DISPUTE_WON']).notNull(),
    shopId: shopId(),
    orderId: text('order_id')
      .notNull()
      .references(() => orders.id),
    /** `gift_card` for what no processor moved. */
    processor: text('processor').notNull(),
    affiliateId: text('affiliate_id'),
    currency: text('currency').notNull(),
    /** Never negative: the kind says which way it went. */
    amount: money('amount').notNull(),
    /** Of the day of the order's confirmation; null while no rate is known. */
    usdPerUnit: text('usd_per_unit'),
    usdCents: money('usd_cents'),
    /** When it counts: the confirmation of the order, or the moment of the refund. */
    at: instant('at').notNull(),
    /** The day of the rate. */
    rateDay: text('rate_day').notNull(),
    /** Whether the order was ever confirmed: a capture that came too late and its refund are no sales. */
    confirmed: bool('confirmed').notNull(),
  },
  (row) => [
    uniqueIndex('unified_transactions_key').on(row.key),
    index('unified_transactions_at').on(row.at),
    index('unified_transactions_order').on(row.orderId),
    index('unified_transactions_unpriced').on(row.currency, row.rateDay).where(sql`usd_cents is null`),
  ],
)
