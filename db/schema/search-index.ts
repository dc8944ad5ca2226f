import { int, primaryKey, table, text, word } from '../columns.ts'
import { shops } from './shop.ts'

/** Between which numbers a shop's orders of a day lie: days are found by these, and lists stay in the order of numbers. Kept in the write that places. */
export const orderDays = table(
  'order_days',
  {
    shopId: text('shop_id')
      .notNull()
      .references(() => shops.id),
    /** Since the epoch, UTC. */
    day: int('day').notNull(),
    first: int('first').notNull(),
    last: int('last').notNull(),
  },
  (row) => [primaryKey({ columns: [row.shopId, row.day] })],
)

/** What is still to be put into a search index, by a job, in pieces: a row while some is left. */
export const searchFills = table('search_fills', {
  subject: word('subject', ['ORDERS', 'PRODUCTS', 'CUSTOMERS', 'SUMMARIES']).primaryKey(),
  /** Those with a lower id are still to come. */
  below: text('below').notNull(),
  done: int('done').notNull(),
})

/**
 * How many of a shop's records lie in a run of ids, by the highest id of the run: a page deep in a list begins here. Runs follow each other from the oldest
 * record on without a gap, and behind the last one lie the newest. No record of these ever goes, so a run stays as it is; see db/list-pages.ts.
 */
export const listBlocks = table(
  'list_blocks',
  {
    shopId: text('shop_id')
      .notNull()
      .references(() => shops.id),
    list: word('list', ['PRODUCTS', 'CUSTOMERS']).notNull(),
    last: text('last').notNull(),
    records: int('records').notNull(),
  },
  (block) => [primaryKey({ columns: [block.shopId, block.list, block.last] })],
)
