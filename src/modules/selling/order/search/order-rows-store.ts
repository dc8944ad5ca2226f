import { and, asc, desc, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../../../../db/engine.ts'
import { fulfilments } from '../../../../../db/schema/fulfilments.ts'
import { refunds } from '../../../../../db/schema/payments.ts'
import { orderLines, orders } from '../../../../../db/schema/selling.ts'
import { unitsOf } from '../fulfilment/units.ts'
import type { OrderRow } from './csv.ts'

/**
 * Reads a shop's orders by number with their lines, newest first.
 * @param withUnits also counts the units of each line
 */
export async function orderRowsOf(
  read: Pick<Reader, 'select'>,
  shopId: string,
  numbers: readonly number[],
  withUnits: boolean,
): Promise<OrderRow[]> {
  if (numbers.length === 0) return []
  const found = await read
    .select()
    .from(orders)
    .where(and(eq(orders.shopId, shopId), inArray(orders.number, [...numbers])))
    .orderBy(desc(orders.number))
  const ids = found.map(({ id }) => id)
  const lines = await read
    .select()
    .from(orderLines)
    .where(inArray(orderLines.orderId, ids))
    .orderBy(asc(orderLines.orderId), asc(orderLines.position))
  const byOrder = Map.groupBy(lines, ({ orderId }) => orderId)
  const rows = found.map((order) => ({ order, lines: byOrder.get(order.id) ?? [] }))
  if (!withUnits) return rows
  const parcels = await read.select().from(fulfilments).where(inArray(fulfilments.orderId, ids)).orderBy(asc(fulfilments.id))
  const refunded = await read.select().from(refunds).where(inArray(refunds.orderId, ids)).orderBy(asc(refunds.id))
  const [parcelsOf, refundsOf] = [Map.groupBy(parcels, ({ orderId }) => orderId), Map.groupBy(refunded, ({ orderId }) => orderId)]
  return rows.map((row) => ({
    ...row,
    units: unitsOf(row.order, row.lines, parcelsOf.get(row.order.id) ?? [], refundsOf.get(row.order.id) ?? []),
  }))
}
