import { type SQL, sql } from 'drizzle-orm'
import type { Writer } from '../../../../../db/engine.ts'
import { prepare, prepareSureRead } from '../../../../../db/prepared.ts'
import type { Order } from '../domain.ts'

/** What unpaid orders are bounded by; without a shop they are not bounded by it. */
export type Holding = Pick<Order, 'cartId' | 'placedFrom'> & { readonly shopId: string | null }
type Bounds = { shopMax: number; addressMax: number; cartMax: number }

/** Whether there is one more after so many: to count them costs ten times as much. */
const isMoreThan = (max: string, which: SQL) =>
  sql<boolean>`exists (select 1 from orders where ${which} limit 1 offset ${sql.placeholder(max)})`.mapWith(Boolean)
/** Spelt out, as the indexes of unpaid orders have it. */
const unpaid = sql`status = 'PENDING_PAYMENT'`
const more = {
  ofShop: isMoreThan('shopMax', sql`shop_id = ${sql.placeholder('shopId')} and ${unpaid}`),
  fromAddress: isMoreThan('addressMax', sql`placed_from = ${sql.placeholder('placedFrom')} and ${unpaid}`),
  ofCart: isMoreThan('cartMax', sql`cart_id = ${sql.placeholder('cartId')}`),
}
const once = sql`(select 1 as one) as once`
const areMoreThan = prepare((queries) => queries.select(more).from(once))
const assertNoMoreThan = prepareSureRead((queries) =>
  queries
    .select({ one: sql`1`.as('one') })
    .from(once)
    .where(sql`not (${more.ofShop} or ${more.fromAddress} or ${more.ofCart})`),
)

/** Orders of a shop and from an address that wait for their payment, and all that came of a cart. */
export const openOrderLimitsStore = {
  /** Whether there are more than so many. */
  async areMoreThan(
    tx: Writer,
    { shopId, cartId, placedFrom }: Holding,
    max: Bounds,
  ): Promise<{ ofShop: boolean; fromAddress: boolean; ofCart: boolean }> {
    const found = await tx.first(areMoreThan, { shopId, cartId, placedFrom, ...max })
    if (!found) throw new Error('a count gave nothing')
    return found
  },
  /** Where there are more of any, the write throws NothingChanged. */
  async assertNoMoreThan(tx: Writer, { shopId, cartId, placedFrom }: Holding, max: Bounds): Promise<void> {
    await tx.run(assertNoMoreThan, { shopId, cartId, placedFrom, ...max })
  },
}
