import { index, instant, json, table, text } from '../columns.ts'

/** What those who follow events are told that no other table says; kept for an hour. */
export const liveEvents = table(
  'live_events',
  {
    id: text('id').primaryKey(),
    /** Null: operators are told. */
    shopId: text('shop_id'),
    /** As `import.progress`. */
    name: text('name').notNull(),
    /** No personal values. */
    data: json<Readonly<Record<string, unknown>>>('data').notNull(),
    at: instant('at').notNull(),
  },
  (row) => [index('live_events_at').on(row.at)],
)
