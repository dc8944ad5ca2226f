import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../../db/engine.ts'
import { lockedRowsIn } from '../../../../../db/prepared.ts'
import { orders } from '../../../../../db/schema/selling.ts'
import type { Order } from '../domain.ts'

const lockedOrders = lockedRowsIn(orders, 'id')

/** Queries for orders of a shop that guests placed with an e-mail address. */
export const guestOrdersStore = {
  /** Returns the first ids, in order. */
  async idsOf(from: Pick<Reader, 'select'>, shopId: string, email: string, limit: number): Promise<string[]> {
    const rows = await from
      .select({ id: orders.id })
      .from(orders)
      .where(and(eq(orders.shopId, shopId), sql`lower(${orders.email}) = ${email}`, sql`customer_id is null`))
      .orderBy(asc(orders.id))
      .limit(limit)
    return rows.map(({ id }) => id)
  },
  /**
   * Assigns orders that still have no customer.
   * @returns the changed orders
   */
  async assign(tx: Writer, ids: readonly string[], customerId: string, updatedAt: number): Promise<Order[]> {
    // In order of their ids, like every write that locks several.
    await lockedOrders(tx, ids)
    return tx
      .update(orders)
      .set({ customerId, updatedAt })
      .where(and(inArray(orders.id, [...ids]), isNull(orders.customerId)))
      .returning()
  },
}
