import { index, instant, json, table, text } from '../columns.ts'

/** Live events without another table; kept for an hour. */
export const liveEvents = table(
  'live_events',
  {
    id: text('id').primaryKey(),
    /** Null: for operators. */
    shopId: text('shop_id'),
    /** Such as `import.progress`. */
    name: text('name').notNull(),
    /** Contains no personal data. */
    data: json<Readonly<Record<string, unknown>>>('data').notNull(),
    at: instant('at').notNull(),
  },
  (row) => [index('live_events_at').on(row.at)],
)
