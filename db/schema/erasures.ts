import { sql } from 'drizzle-orm'
import { index, instant, json, table, text } from '../columns.ts'

/**
 * Whose personal data was erased: ids and times, nothing of the person. Beside the database stands the same list (`erased.jsonl`), by which an
 * older database that was restored is brought up to it.
 */
export const erasures = table(
  'erasures',
  {
    /** No reference: a database that was restored may never have known them. */
    customerId: text('customer_id').primaryKey(),
    shopId: text('shop_id').notNull(),
    at: instant('at').notNull(),
    /** Their orders, those that they bought as a guest included. */
    orderIds: json<string[]>('order_ids').notNull(),
    /** Ids of what else was theirs: by these, answers that were under way are found. Never empty before they were looked for, and emptied then. */
    otherIds: json<string[]>('other_ids').notNull(),
    /** When what was under way during the erasure had been looked for as well. */
    finishedAt: instant('finished_at'),
    /** When the list had it in every place where backups are kept. */
    listedAt: instant('listed_at'),
  },
  (erasure) => [
    index('erasures_at').on(erasure.at),
    index('erasures_open').on(erasure.at).where(sql`finished_at is null or listed_at is null`),
  ],
)
