import { and, asc, desc, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../../db/engine.ts'
import { orderLines, orders } from '../../../db/schema/selling.ts'
import type { Slice } from '../../lib/page.ts'
import type { OrderRow } from './csv.ts'
import type { OrderFilter } from './domain.ts'
import { findingStore } from './finding-store.ts'

/** Orders of a shop with their lines, by number, newest first: a piece of a list that is read whole, in two queries. */
export async function orderRowsOf(read: Reader, filter: OrderFilter, slice: Slice): Promise<OrderRow[]> {
  const numbers = await findingStore.numbersAfter(read, filter, slice)
  if (numbers.length === 0) return []
  const found = await read
    .select()
    .from(orders)
    .where(and(eq(orders.shopId, filter.shopId), inArray(orders.number, [...numbers])))
    .orderBy(desc(orders.number))
  const lines = await read
    .select()
    .from(orderLines)
    .where(
      inArray(
        orderLines.orderId,
        found.map(({ id }) => id),
      ),
    )
    .orderBy(asc(orderLines.orderId), asc(orderLines.position))
  const byOrder = Map.groupBy(lines, ({ orderId }) => orderId)
  return found.map((order) => ({ order, lines: byOrder.get(order.id) ?? [] }))
}
