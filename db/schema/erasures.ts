import { sql } from 'drizzle-orm'
import { index, instant, json, table, text } from '../columns.ts'

/**
 * Erased customers: ids and times, no personal data. The file `erased.jsonl` beside the database has the same list, so
 * that a restored older database can be brought up to date.
 */
export const erasures = table(
  'erasures',
  {
    /** No reference, because a restored database may never have had the customer. */
    customerId: text('customer_id').primaryKey(),
    shopId: text('shop_id').notNull(),
    at: instant('at').notNull(),
    /** Orders of the customer, including guest orders. */
    orderIds: json<string[]>('order_ids').notNull(),
    /** Other ids of the customer, by which late responses are found. Set by the search, emptied afterwards. */
    otherIds: json<string[]>('other_ids').notNull(),
    /** When data that was in flight during the erasure was also erased. */
    finishedAt: instant('finished_at'),
    /** When every backup location had the list entry. */
    listedAt: instant('listed_at'),
  },
  (erasure) => [
    index('erasures_at').on(erasure.at),
    index('erasures_open').on(erasure.at).where(sql`finished_at is null or listed_at is null`),
  ],
)
