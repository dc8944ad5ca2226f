import { type SQL, sql } from 'drizzle-orm'
import type { Writer } from '../../../../../db/engine.ts'
import { prepare } from '../../../../../db/prepared.ts'
import type { Order } from '../domain.ts'

/** The keys of the limits on unpaid orders; `placedFrom`: null means no limit by address. */
export type OrderLimitKey = Pick<Order, 'shopId' | 'cartId' | 'placedFrom'>
type OrderLimits = { shopMax: number; addressMax: number; cartMax: number }

/** Whether more than `max` rows match. Counting them all costs ten times as much. */
const isMoreThan = (max: string, which: SQL) =>
  sql<boolean>`exists (select 1 from orders where ${which} limit 1 offset ${sql.placeholder(max)})`.mapWith(Boolean)
/** A literal, so that the partial indexes of unpaid orders apply. */
const unpaid = sql`status = 'PENDING_PAYMENT'`
const more = {
  ofShop: isMoreThan('shopMax', sql`shop_id = ${sql.placeholder('shopId')} and ${unpaid}`),
  fromAddress: isMoreThan('addressMax', sql`placed_from = ${sql.placeholder('placedFrom')} and ${unpaid}`),
  ofCart: isMoreThan('cartMax', sql`cart_id = ${sql.placeholder('cartId')}`),
}
const areMoreThan = prepare((queries) => queries.select(more).from(sql`(select 1 as one) as once`))

/** Queries for the limits on unpaid orders of a shop, from an address, and on all orders of a cart. */
export const openOrderLimitsStore = {
  /** Returns which limits are exceeded. */
  async areMoreThan(
    tx: Writer,
    { shopId, cartId, placedFrom }: OrderLimitKey,
    max: OrderLimits,
  ): Promise<{ ofShop: boolean; fromAddress: boolean; ofCart: boolean }> {
    const found = await tx.first(areMoreThan, { shopId, cartId, placedFrom, ...max })
    if (!found) throw new Error('a count gave nothing')
    return found
  },
}
