import { sql } from 'drizzle-orm'
import { enumText, index, int, money, primaryKey, table, text } from '../columns.ts'

/**
 * KPIs: people, shops, orders and products as counts, money in US cents. UNPRICED counts movements without a dollar
 * value. MERCHANT_ and PRODUCT_ are affiliate sales by shop and product. Order and money figures without TEST_ cover
 * live shops. SHOP_ figures are minor units of the shop's currency, computed when deltas are folded.
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

/** Appended in the write of the fact, so that writes do not contend. A job folds them into `kpi_days`. */
export const kpiDeltas = table(
  'kpi_deltas',
  {
    kpi: enumText('kpi', kpiWords).notNull(),
    /** Day of the fact: days since 1970-01-01, UTC. */
    day: int('day').notNull(),
    /** Identifies the fact within a figure and day: the id of its record. */
    id: text('id').notNull(),
    /** Breakdown of the figure: a role, cohort, processor, status, shop or product. */
    key: text('key').notNull(),
    value: money('value').notNull(),
  },
  (delta) => [primaryKey({ columns: [delta.kpi, delta.day, delta.id] })],
)

/** Sums of deltas by 1, 8 and 64 days, so that long windows read few rows. */
export const kpiDays = table(
  'kpi_days',
  {
    kpi: enumText('kpi', kpiWords).notNull(),
    /** Number of days: 1, 8 or 64. */
    span: int('span').notNull(),
    /** First day, days since 1970-01-01: a multiple of `span`. */
    day: int('day').notNull(),
    key: text('key').notNull(),
    value: money('value').notNull(),
  },
  (row) => [
    primaryKey({ columns: [row.kpi, row.span, row.day, row.key] }),
    // For rankings, in order.
    index('kpi_days_ranked')
      .on(row.kpi, row.span, row.day, row.value, row.key)
      .where(sql`kpi in ('MERCHANT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_PRODUCT_UNITS')`),
    // Sales of a ranked subject in a window are adjacent, and read from the index alone.
    index('kpi_days_of_key')
      .on(row.kpi, row.key, row.span, row.day, row.value)
      .where(
        sql`kpi in ('MERCHANT_CENTS', 'MERCHANT_ORDERS', 'PRODUCT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_MERCHANT_ORDERS', 'TEST_PRODUCT_CENTS', 'TEST_PRODUCT_UNITS')`,
      ),
  ],
)

/**
 * A row per backfill of the figures' past. While a backfill runs from the newest day back, `filledAt` of the row with
 * the negative number is the start of the oldest completed day.
 */
export const kpiState = table('kpi_state', { id: int('id').primaryKey(), filledAt: money('filled_at').notNull() })
