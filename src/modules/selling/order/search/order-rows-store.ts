import { and, asc, desc, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../../../../db/engine.ts'
import { orderLines, orders } from '../../../../../db/schema/selling.ts'
import type { OrderRow } from './csv.ts'

/** Reads a shop's orders by number with their lines, newest first, in two queries. */
export async function orderRowsOf(read: Pick<Reader, 'select'>, shopId: string, numbers: readonly number[]): Promise<OrderRow[]> {
  if (numbers.length === 0) return []
  const found = await read
    .select()
    .from(orders)
    .where(and(eq(orders.shopId, shopId), inArray(orders.number, [...numbers])))
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
