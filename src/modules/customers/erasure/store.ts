import { and, asc, count, eq, gt, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { Aside, Reader, Writer } from '../../../../db/engine.ts'
import { lockedRowsIn } from '../../../../db/prepared.ts'
import { draftOrders } from '../../../../db/schema/drafts.ts'
import { erasures } from '../../../../db/schema/erasures.ts'
import { addresses, carts, orders } from '../../../../db/schema/selling.ts'
import { customerSearch, orderSearch } from '../../../../db/search.ts'
import { type Erasure, erasedEmail } from './domain.ts'

type Selects = Pick<Reader, 'select'>

const cartsById = lockedRowsIn(carts, 'id')
const ordersById = lockedRowsIn(orders, 'id')
const idsAtOnce = 500

const behind = ({ at, customerId }: Pick<Erasure, 'at' | 'customerId'>) =>
  or(gt(erasures.at, at), and(eq(erasures.at, at), gt(erasures.customerId, customerId)))

/** The list of erasures, and what is locked before one. */
export const erasureStore = {
  async find(from: Selects, customerId: string): Promise<Erasure | undefined> {
    const [found] = await from.select().from(erasures).where(eq(erasures.customerId, customerId)).limit(1)
    return found
  },
  /** Leaves the one that is there. */
  async insert(tx: Writer, row: Erasure): Promise<void> {
    await tx.insert(erasures).values(row).onConflictDoNothing()
  },
  async change(tx: Writer, customerId: string, change: Partial<Erasure>): Promise<void> {
    await tx.update(erasures).set(change).where(eq(erasures.customerId, customerId))
  },
  /** Those of which this is still to be done, oldest first, from behind one on. */
  async unfinished(
    from: Selects,
    what: 'finishedAt' | 'listedAt',
    limit: number,
    after?: Pick<Erasure, 'at' | 'customerId'>,
  ): Promise<Erasure[]> {
    return (
      from
        .select()
        .from(erasures)
        // Spelt out, as the index has it.
        .where(and(sql`(finished_at is null or listed_at is null)`, isNull(erasures[what]), after && behind(after)))
        .orderBy(asc(erasures.at), asc(erasures.customerId))
        .limit(limit)
    )
  },
  /** By time and id, from behind one on. */
  async next(from: Selects, after: Pick<Erasure, 'at' | 'customerId'> | undefined, limit: number): Promise<Erasure[]> {
    return from
      .select()
      .from(erasures)
      .where(after && behind(after))
      .orderBy(asc(erasures.at), asc(erasures.customerId))
      .limit(limit)
  },
  async count(from: Selects): Promise<number> {
    const [row] = await from.select({ n: count() }).from(erasures)
    return Number(row?.n ?? 0)
  },
  /** Of these, the ids of those that are there. */
  async known(from: Selects, ids: readonly string[]): Promise<Set<string>> {
    const rows = await from
      .select({ id: erasures.customerId })
      .from(erasures)
      .where(inArray(erasures.customerId, [...ids]))
    return new Set(rows.map(({ id }) => id))
  },

  /** Carts of a guest's in a shop that have this e-mail address, in lower case. Carts have no index by it, so that nobody pays for one. */
  async guestCarts(aside: Pick<Aside, 'rows'>, shopId: string, email: string): Promise<string[]> {
    const rows = await aside.rows<{ id: string }>(
      sql`select id from carts where shop_id = ${shopId} and lower(email) = ${email} and customer_id is null`,
    )
    return rows.map(({ id }) => id)
  },
  async cartsOf(from: Selects, customerId: string): Promise<string[]> {
    const rows = await from.select({ id: carts.id }).from(carts).where(eq(carts.customerId, customerId))
    return rows.map(({ id }) => id)
  },
  /** What the shop drew up, by the carts that these are. */
  async draftsOf(from: Selects, cartIds: readonly string[]): Promise<string[]> {
    const ids: string[] = []
    for (let nth = 0; nth < cartIds.length; nth += idsAtOnce)
      for (const { id } of await from
        .select({ id: draftOrders.id })
        .from(draftOrders)
        .where(inArray(draftOrders.cartId, cartIds.slice(nth, nth + idsAtOnce))))
        ids.push(id)
    return ids
  },
  async addressesOf(from: Selects, customerId: string): Promise<string[]> {
    const rows = await from
      .select({ id: addresses.id })
      .from(addresses)
      .where(or(eq(addresses.customerId, customerId), eq(addresses.enteredBy, customerId)))
    return rows.map(({ id }) => id)
  },
  /** Of orders of a shop: whose they are, the address, and the cart that they were. */
  async placedFrom(from: Selects, shopId: string, orderIds: readonly string[]) {
    const { cartId, customerId, email } = orders
    const rows: { cartId: string; customerId: string | null; email: string }[] = []
    for (let nth = 0; nth < orderIds.length; nth += idsAtOnce)
      rows.push(
        ...(await from
          .select({ cartId, customerId, email })
          .from(orders)
          .where(and(inArray(orders.id, orderIds.slice(nth, nth + idsAtOnce)), eq(orders.shopId, shopId)))),
      )
    return rows
  },
  /** Orders of a customer's that are not erased: they were being placed in that moment. */
  straysOf: (from: Selects, { customerId, shopId }: Pick<Erasure, 'customerId' | 'shopId'>) =>
    from
      .select()
      .from(orders)
      .where(and(eq(orders.customerId, customerId), eq(orders.shopId, shopId), ne(orders.email, erasedEmail(customerId)))),
  /** Rewrites a part of an index of words; whether there is more. */
  purge: (tx: Writer, subject: 'orders' | 'customers', isFirst: boolean): Promise<boolean> =>
    (subject === 'orders' ? orderSearch : customerSearch).purge(tx, isFirst),
  lockCarts: (tx: Writer, ids: readonly string[]) => cartsById(tx, ids),
  /** Those of a customer's and some others, as they stand in a write that has them to itself from then on. */
  async lockOrders(tx: Writer, customerId: string, shopId: string, more: readonly string[]) {
    const own = await tx
      .select({ id: orders.id })
      .from(orders)
      .where(and(eq(orders.customerId, customerId), eq(orders.shopId, shopId)))
    const rows = await ordersById(tx, [...own.map(({ id }) => id), ...more])
    return rows.filter((order) => order.shopId === shopId)
  },
}
