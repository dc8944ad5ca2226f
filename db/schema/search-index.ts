import { enumText, int, primaryKey, reference, table, text } from '../columns.ts'
import { shops } from './shop.ts'

/**
 * First and last order number of a shop's day, so that lists filter by day in number order. Maintained by the
 * checkout's write.
 */
export const orderDays = table(
  'order_days',
  {
    shopId: reference('shop_id', () => shops.id),
    /** Days since the epoch, UTC. */
    day: int('day').notNull(),
    first: int('first').notNull(),
    last: int('last').notNull(),
  },
  (row) => [primaryKey({ columns: [row.shopId, row.day] })],
)

/** Progress of search backfills; a row while one runs. */
export const searchFills = table('search_fills', {
  subject: enumText('subject', ['ORDERS', 'PRODUCTS', 'CUSTOMERS', 'SUMMARIES']).primaryKey(),
  /** Records with a lower id are not indexed yet. */
  below: text('below').notNull(),
  done: int('done').notNull(),
})

/**
 * Number of records in a block of ids, by its highest id. Blocks are contiguous from the oldest record; newer records
 * follow the last block. Records are never deleted; see db/list-pages.ts.
 */
export const listBlocks = table(
  'list_blocks',
  {
    shopId: reference('shop_id', () => shops.id),
    list: enumText('list', ['PRODUCTS', 'CUSTOMERS']).notNull(),
    last: text('last').notNull(),
    records: int('records').notNull(),
  },
  (block) => [primaryKey({ columns: [block.shopId, block.list, block.last] })],
)
