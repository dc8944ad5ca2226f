import { sql } from 'drizzle-orm'
import type { Writer } from '../../../../../db/engine.ts'
import { prepare } from '../../../../../db/prepared.ts'
import { orderDays } from '../../../../../db/schema/search-index.ts'
import { orderSearch } from '../../../../../db/search.ts'
import { dayNumberOf } from '../../../../lib/day.ts'
import type { Order } from '../domain.ts'

/** Reads the row that the same write inserted. */
const ownNumber = sql`(select number from orders where id = ${sql.placeholder('id')})`
const recordDay = prepare(
  (queries) =>
    queries
      .insert(orderDays)
      .values({ shopId: sql.placeholder('shopId'), day: sql.placeholder('day'), first: ownNumber, last: ownNumber })
      .onConflictDoUpdate({
        target: [orderDays.shopId, orderDays.day],
        set: {
          first: sql`case when excluded.first < order_days.first then excluded.first else order_days.first end`,
          last: sql`case when excluded.last > order_days.last then excluded.last else order_days.last end`,
        },
      }),
  'behind',
)

type SearchedOrder = Pick<Order, 'id' | 'shopId' | 'createdAt'>

/** Indexes orders by words and by day. */
export const orderIndexStore = {
  /** Indexes an order, in the write that inserts it. */
  async add(tx: Writer, { id, shopId, createdAt }: SearchedOrder, words: readonly string[]): Promise<void> {
    await tx.run(recordDay, { id, shopId, day: dayNumberOf(createdAt) })
    await orderSearch.add(tx, { id, shopId }, words)
  },
  /** Indexes an order that may be indexed already. */
  async replace(tx: Writer, { id, shopId, createdAt }: SearchedOrder, words: readonly string[]): Promise<void> {
    await tx.run(recordDay, { id, shopId, day: dayNumberOf(createdAt) })
    await orderSearch.replace(tx, { id, shopId }, words)
  },
}
