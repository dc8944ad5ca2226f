import { and, asc, desc, eq, inArray, lt, type SQL } from 'drizzle-orm'
import type { Reader } from '../../../db/engine.ts'
import { orderLines, orders } from '../../../db/schema/selling.ts'
import type { Slice } from '../../lib/page.ts'
import type { OrderRow } from './csv.ts'

/**
 * Orders of a shop with their lines, by number, newest first: a piece of a list that is read whole, in two queries.
 * @param conditions what narrows the list, as the order store tells it
 */
export async function orderRowsOf(
  read: Pick<Reader, 'select'>,
  shopId: string,
  conditions: readonly SQL[],
  { limit, after }: Slice,
): Promise<OrderRow[]> {
  const beyond = typeof after === 'number' ? lt(orders.number, after) : undefined
  const found = await read
    .select()
    .from(orders)
    .where(and(eq(orders.shopId, shopId), ...conditions, beyond))
    .orderBy(desc(orders.number))
    .limit(limit)
  if (found.length === 0) return []
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
