import { sql } from 'drizzle-orm'
import { bool, enumText, index, instant, int, money, primaryKey, reference, table, text, uniqueIndex } from '../columns.ts'
import { orders } from './selling.ts'
import { shops } from './shop.ts'

/** Affiliates of a shop. */
export const affiliates = table(
  'affiliates',
  {
    id: text('id').primaryKey(),
    shopId: reference('shop_id', () => shops.id),
    name: text('name').notNull(),
    /** Lower case, unique per shop. */
    code: text('code').notNull(),
    rateBps: int('rate_bps').notNull(),
    active: bool('active').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** Increases with management changes. `ETag` and `If-Match` use it. */
    version: int('version').notNull().default(1),
  },
  (affiliate) => [
    uniqueIndex('affiliates_code').on(affiliate.shopId, affiliate.code),
    index('affiliates_shop').on(affiliate.shopId, affiliate.id),
  ],
)

/** Clicks on the links of affiliates. */
export const affiliateClicks = table(
  'affiliate_clicks',
  {
    id: text('id').primaryKey(),
    affiliateId: reference('affiliate_id', () => affiliates.id),
    at: instant('at').notNull(),
  },
  (click) => [index('affiliate_clicks_affiliate').on(click.affiliateId, click.at), index('affiliate_clicks_at').on(click.at)],
)

/** The commission of an order; pending until the refund window has passed. */
export const commissions = table(
  'commissions',
  {
    orderId: reference('order_id', () => orders.id).primaryKey(),
    affiliateId: reference('affiliate_id', () => affiliates.id),
    shopId: reference('shop_id', () => shops.id),
    currency: text('currency').notNull(),
    /** Commission at the order. */
    amount: money('amount').notNull(),
    /** Reduced by refunds, in proportion. */
    reversed: money('reversed').notNull(),
    status: enumText('status', ['PENDING', 'APPROVED', 'REVERSED']).notNull(),
    /** End of the refund window. */
    approvesAt: instant('approves_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (row) => [index('commissions_affiliate').on(row.affiliateId, row.createdAt), index('commissions_due').on(row.status, row.approvesAt)],
)

/** Exchange rate of a currency on a UTC day, as a decimal text. */
export const fxRates = table(
  'fx_rates',
  {
    day: text('day').notNull(),
    currency: text('currency').notNull(),
    usdPerUnit: text('usd_per_unit').notNull(),
    /** `peg`, or the source. */
    source: text('source').notNull(),
  },
  (rate) => [primaryKey({ columns: [rate.currency, rate.day] })],
)

/** All money movements: captures, gift card payments, refunds. All KPIs derive from it. */
export const unifiedTransactions = table(
  'unified_transactions',
  {
    id: text('id').primaryKey(),
    /** Identifies the movement: `capture:pay_…`, `gift-card:order_…:gift_…`, `refund:ref_…`, `dispute:disp_…`. */
    key: text('key').notNull(),
    /**
     * REFUND_REVERSED: the shopper's bank returned a refund. DISPUTE: the bank reclaimed the payment; DISPUTE_WON: it
     * paid again.
     */
    kind: enumText('kind', ['CAPTURE', 'GIFT_CARD', 'REFUND', 'GIFT_CARD_REFUND', 'REFUND_REVERSED', 'DISPUTE', 'DISPUTE_WON']).notNull(),
    shopId: reference('shop_id', () => shops.id),
    orderId: reference('order_id', () => orders.id),
    /** `gift_card` if no processor was involved. */
    processor: text('processor').notNull(),
    affiliateId: text('affiliate_id'),
    currency: text('currency').notNull(),
    /** Not negative; `kind` determines the direction. */
    amount: money('amount').notNull(),
    /** Rate of the day of confirmation; null while unknown. */
    usdPerUnit: text('usd_per_unit'),
    usdCents: money('usd_cents'),
    /** Time of the confirmation or refund. */
    at: instant('at').notNull(),
    /** Day of the rate. */
    rateDay: text('rate_day').notNull(),
    /** Whether the order was confirmed. A late capture and its refund are not sales. */
    confirmed: bool('confirmed').notNull(),
  },
  (row) => [
    uniqueIndex('unified_transactions_key').on(row.key),
    index('unified_transactions_at').on(row.at),
    index('unified_transactions_shop').on(row.shopId, row.at),
    index('unified_transactions_order').on(row.orderId),
    index('unified_transactions_unpriced').on(row.currency, row.rateDay).where(sql`usd_cents is null`),
  ],
)
