import { and, asc, count, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import type { Aside, Reader, Writer } from '../../../db/engine.ts'
import { lockedRowsIn, lockedRowsOf } from '../../../db/prepared.ts'
import { erasures } from '../../../db/schema/erasures.ts'
import { addresses, carts, orders } from '../../../db/schema/selling.ts'
import { customerSearch, orderSearch } from '../../../db/search.ts'
import type { Erasure } from './domain.ts'

type Selects = Pick<Reader, 'select'>

const cartsById = lockedRowsIn(carts, 'id')
const ordersById = lockedRowsIn(orders, 'id')
const byId = lockedRowsOf(erasures, ['customerId'])

/** The list of erasures, and what is locked before one. */
export const erasureStore = {
  async find(from: Selects, customerId: string): Promise<Erasure | undefined> {
    const [found] = await from.select().from(erasures).where(eq(erasures.customerId, customerId)).limit(1)
    return found
  },
  async lock(tx: Writer, customerId: string): Promise<Erasure | undefined> {
    return tx.first(byId, { customerId })
  },
  /** Leaves the one that is there. */
  async insert(tx: Writer, row: Erasure): Promise<void> {
    await tx.insert(erasures).values(row).onConflictDoNothing()
  },
  async change(tx: Writer, customerId: string, change: Partial<Erasure>): Promise<void> {
    await tx.update(erasures).set(change).where(eq(erasures.customerId, customerId))
  },
  /** Those of which this is still to be done, oldest first. */
  async unfinished(from: Selects, what: 'finishedAt' | 'listedAt', limit: number): Promise<Erasure[]> {
    return (
      from
        .select()
        .from(erasures)
        // Spelt out, as the index has it.
        .where(and(sql`(finished_at is null or listed_at is null)`, isNull(erasures[what])))
        .orderBy(asc(erasures.at))
        .limit(limit)
    )
  },
  /** By time and id, from behind one on. */
  async next(from: Selects, after: Pick<Erasure, 'at' | 'customerId'> | undefined, limit: number): Promise<Erasure[]> {
    const behind = after && or(gt(erasures.at, after.at), and(eq(erasures.at, after.at), gt(erasures.customerId, after.customerId)))
    return from.select().from(erasures).where(behind).orderBy(asc(erasures.at), asc(erasures.customerId)).limit(limit)
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
  async addressesOf(from: Selects, customerId: string): Promise<string[]> {
    const rows = await from
      .select({ id: addresses.id })
      .from(addresses)
      .where(or(eq(addresses.customerId, customerId), eq(addresses.enteredBy, customerId)))
    return rows.map(({ id }) => id)
  },
  /** What people are found by: the words of whoever was erased are taken out of these. */
  words: [orderSearch, customerSearch],
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
