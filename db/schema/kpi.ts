import { sql } from 'drizzle-orm'
import { index, int, money, primaryKey, table, text, word } from '../columns.ts'

/**
 * Figures of the operator's dashboards: people, shops, orders and products as counts, money in US cents. UNPRICED are
 * movements of money without a value in dollars yet. MERCHANT_ and PRODUCT_ count affiliate sales, by shop and by
 * product. Figures of orders and money without TEST_ count live shops. SHOP_ figures are in the shop's currency (minor
 * units) and are computed when deltas are folded.
 */
export const kpiWords = [
  'USERS',
  'SHOPS',
  'ORDERS',
  'PRODUCTS',
  'GMV',
  'REFUNDS',
  'UNPRICED',
  'MERCHANT_CENTS',
  'MERCHANT_ORDERS',
  'PRODUCT_CENTS',
  'PRODUCT_UNITS',
  'TEST_ORDERS',
  'TEST_GMV',
  'TEST_REFUNDS',
  'TEST_UNPRICED',
  'TEST_MERCHANT_CENTS',
  'TEST_MERCHANT_ORDERS',
  'TEST_PRODUCT_CENTS',
  'TEST_PRODUCT_UNITS',
  'SHOP_ORDERS',
  'SHOP_SALES',
  'SHOP_REFUNDS',
  'SHOP_UNITS',
  'SHOP_REVENUE',
] as const

/** Appended in the write of the fact, so that nobody waits for a shared row. A fold moves them into `kpi_days`. */
export const kpiDeltas = table(
  'kpi_deltas',
  {
    kpi: word('kpi', kpiWords).notNull(),
    /** Days since 1970-01-01, UTC: when the fact counts. */
    day: int('day').notNull(),
    /** Names the fact, once a figure and day: the id of its record. */
    id: text('id').notNull(),
    /** What the figure is broken down by: a role, a cohort, a processor, a status, a shop or a product. */
    key: text('key').notNull(),
    value: money('value').notNull(),
  },
  (delta) => [primaryKey({ columns: [delta.kpi, delta.day, delta.id] })],
)

/** The deltas of the past, summed up by day, and by 8 and by 64 days too, so that a long window is few rows. */
export const kpiDays = table(
  'kpi_days',
  {
    kpi: word('kpi', kpiWords).notNull(),
    /** Of how many days it is the sum: 1, 8 or 64. */
    span: int('span').notNull(),
    /** The first of them, days since 1970-01-01: a multiple of `span`. */
    day: int('day').notNull(),
    key: text('key').notNull(),
    value: money('value').notNull(),
  },
  (row) => [
    primaryKey({ columns: [row.kpi, row.span, row.day, row.key] }),
    // What rankings go by, in order.
    index('kpi_days_ranked')
      .on(row.kpi, row.span, row.day, row.value, row.key)
      .where(sql`kpi in ('MERCHANT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_PRODUCT_UNITS')`),
    // What somebody who is ranked sold in a run of days lies together, and is read from the index alone.
    index('kpi_days_of_key')
      .on(row.kpi, row.key, row.span, row.day, row.value)
      .where(
        sql`kpi in ('MERCHANT_CENTS', 'MERCHANT_ORDERS', 'PRODUCT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_MERCHANT_ORDERS', 'TEST_PRODUCT_CENTS', 'TEST_PRODUCT_UNITS')`,
      ),
  ],
)

/**
 * A row once the figures of what was there before they were kept have been counted: one for each time that there were more of them. While they are being counted,
 * from the newest day back, `filledAt` under the negative of that number is the beginning of the oldest day that has been.
 */
export const kpiState = table('kpi_state', { id: int('id').primaryKey(), filledAt: money('filled_at').notNull() })
