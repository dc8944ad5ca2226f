import { type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../../db/engine.ts'
import { prepare, prepareSure } from '../../../../../db/prepared.ts'
import type { Order } from '../domain.ts'

/** The keys of the limits on unpaid orders; `placedFrom`: null means no limit by address or shop. */
type OrderLimitKey = Pick<Order, 'shopId' | 'cartId' | 'placedFrom'>
type OrderLimits = { shopMax: number; addressMax: number; cartMax: number }

/** Selects whether more than `max` rows match. Counting them all costs ten times as much. */
const isMoreThan = (max: string, which: SQL) =>
  sql<boolean>`exists (select 1 from orders where ${which} limit 1 offset ${sql.placeholder(max)})`.mapWith(Boolean)
/** A literal, so that the partial indexes of unpaid orders apply. */
const unpaid = sql`status = 'PENDING_PAYMENT'`
const more = {
  ofShop: isMoreThan('shopMax', sql`shop_id = ${sql.placeholder('shopId')} and ${unpaid}`),
  fromAddress: isMoreThan('addressMax', sql`placed_from = ${sql.placeholder('placedFrom')} and ${unpaid}`),
  ofCart: isMoreThan('cartMax', sql`cart_id = ${sql.placeholder('cartId')}`),
}
const once = sql`(select 1 as one) as once`
const areMoreThan = prepare((queries) => queries.select(more).from(once))
const assertNoMoreThan = prepareSure(
  (queries) =>
    queries
      .select({ one: sql`1`.as('one') })
      .from(once)
      .where(sql`not (${more.ofShop} or ${more.fromAddress} or ${more.ofCart})`),
  'behind',
)

/** Queries for the limits on unpaid orders of a shop, from an address, and on all orders of a cart. */
export const openOrderLimitsStore = {
  /** Returns which limits leave no room for another order. */
  async reached(
    from: Pick<Reader, 'first'>,
    { shopId, cartId, placedFrom }: OrderLimitKey,
    { shopMax, addressMax, cartMax }: OrderLimits,
  ): Promise<{ fromAddress: boolean; ofCart: boolean }> {
    const max = { shopMax: shopMax - 1, addressMax: addressMax - 1, cartMax: cartMax - 1 }
    const found = await from.first(areMoreThan, { shopId, cartId, placedFrom, ...max })
    if (!found) throw new Error('a count returned no row')
    return found
  },
  /**
   * Makes the write throw NothingChanged if the order that it inserted exceeds a limit. The write has locked the shop's
   * number, so no other order of the shop is being placed.
   */
  async assertWithin(tx: Writer, { shopId, cartId, placedFrom }: OrderLimitKey, max: OrderLimits): Promise<void> {
    await tx.run(assertNoMoreThan, { shopId: placedFrom === null ? null : shopId, cartId, placedFrom, ...max })
  },
}
