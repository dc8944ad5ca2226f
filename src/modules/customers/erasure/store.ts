import { and, asc, eq, gt, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { BackgroundReader, Reader, Writer } from '../../../../db/engine.ts'
import { countRows } from '../../../../db/page-query.ts'
import { lockedRowsIn } from '../../../../db/prepared.ts'
import { agentSessions } from '../../../../db/schema/agents.ts'
import { draftOrders } from '../../../../db/schema/drafts.ts'
import { erasures } from '../../../../db/schema/erasures.ts'
import { addresses, carts, orders } from '../../../../db/schema/selling.ts'
import { customerSearch, orderSearch } from '../../../../db/search.ts'
import { type Erasure, erasedEmail } from './domain.ts'

type SelectReader = Pick<Reader, 'select'>

const cartsById = lockedRowsIn(carts, 'id')
const ordersById = lockedRowsIn(orders, 'id')
const idsPerQuery = 500

const isAfter = ({ at, customerId }: Pick<Erasure, 'at' | 'customerId'>) =>
  or(gt(erasures.at, at), and(eq(erasures.at, at), gt(erasures.customerId, customerId)))

/** The list of erasures, and locks for an erasure. */
export const erasureStore = {
  async find(from: SelectReader, customerId: string): Promise<Erasure | undefined> {
    const [found] = await from.select().from(erasures).where(eq(erasures.customerId, customerId)).limit(1)
    return found
  },
  /** Keeps an existing row. */
  async insert(tx: Writer, row: Erasure): Promise<void> {
    await tx.insert(erasures).values(row).onConflictDoNothing()
  },
  async change(tx: Writer, customerId: string, change: Partial<Erasure>): Promise<void> {
    await tx.update(erasures).set(change).where(eq(erasures.customerId, customerId))
  },
  /** Returns erasures where `what` is not done, oldest first, after `after`. */
  async unfinished(
    from: SelectReader,
    what: 'finishedAt' | 'listedAt',
    limit: number,
    after?: Pick<Erasure, 'at' | 'customerId'>,
  ): Promise<Erasure[]> {
    return (
      from
        .select()
        .from(erasures)
        // Literal, so that the partial index applies.
        .where(and(sql`(finished_at is null or listed_at is null)`, isNull(erasures[what]), after && isAfter(after)))
        .orderBy(asc(erasures.at), asc(erasures.customerId))
        .limit(limit)
    )
  },
  /** By time and id, after `after`. */
  async next(from: SelectReader, after: Pick<Erasure, 'at' | 'customerId'> | undefined, limit: number): Promise<Erasure[]> {
    return from
      .select()
      .from(erasures)
      .where(after && isAfter(after))
      .orderBy(asc(erasures.at), asc(erasures.customerId))
      .limit(limit)
  },
  count: (from: SelectReader): Promise<number> => countRows(from, erasures),
  /** Returns those of `ids` that are listed. */
  async known(from: SelectReader, ids: readonly string[]): Promise<Set<string>> {
    const rows = await from
      .select({ id: erasures.customerId })
      .from(erasures)
      .where(inArray(erasures.customerId, [...ids]))
    return new Set(rows.map(({ id }) => id))
  },

  /** Finds guest carts by e-mail address (lower case). Scans the table: an index would cost every cart. */
  async guestCarts(reader: Pick<BackgroundReader, 'rows'>, shopId: string, email: string): Promise<string[]> {
    const rows = await reader.rows<{ id: string }>(
      sql`select id from carts where shop_id = ${shopId} and lower(email) = ${email} and customer_id is null`,
    )
    return rows.map(({ id }) => id)
  },
  async cartsOf(from: SelectReader, customerId: string): Promise<string[]> {
    const rows = await from.select({ id: carts.id }).from(carts).where(eq(carts.customerId, customerId))
    return rows.map(({ id }) => id)
  },
  /** Returns draft orders and agents' sessions by their carts. */
  async linkedTo(from: SelectReader, cartIds: readonly string[]): Promise<string[]> {
    const ids: string[] = []
    for (let nth = 0; nth < cartIds.length; nth += idsPerQuery)
      for (const table of [draftOrders, agentSessions])
        for (const { id } of await from
          .select({ id: table.id })
          .from(table)
          .where(inArray(table.cartId, cartIds.slice(nth, nth + idsPerQuery))))
          ids.push(id)
    return ids
  },
  async addressesOf(from: SelectReader, customerId: string): Promise<string[]> {
    const rows = await from
      .select({ id: addresses.id })
      .from(addresses)
      .where(or(eq(addresses.customerId, customerId), eq(addresses.enteredBy, customerId)))
    return rows.map(({ id }) => id)
  },
  /** Returns owner, e-mail address and cart of orders. */
  async placedFrom(from: SelectReader, shopId: string, orderIds: readonly string[]) {
    const { cartId, customerId, email } = orders
    const rows: { cartId: string; customerId: string | null; email: string }[] = []
    for (let nth = 0; nth < orderIds.length; nth += idsPerQuery)
      rows.push(
        ...(await from
          .select({ cartId, customerId, email })
          .from(orders)
          .where(and(inArray(orders.id, orderIds.slice(nth, nth + idsPerQuery)), eq(orders.shopId, shopId)))),
      )
    return rows
  },
  /** Returns the customer's orders that are not erased, because they were being placed meanwhile. */
  uncleanOrders: (from: SelectReader, { customerId, shopId }: Pick<Erasure, 'customerId' | 'shopId'>) =>
    from
      .select()
      .from(orders)
      .where(and(eq(orders.customerId, customerId), eq(orders.shopId, shopId), ne(orders.email, erasedEmail(customerId)))),
  /** Rewrites a part of a search index. Returns whether there is more. */
  purge: (tx: Writer, subject: 'orders' | 'customers', isFirst: boolean): Promise<boolean> =>
    (subject === 'orders' ? orderSearch : customerSearch).purge(tx, isFirst),
  lockCarts: (tx: Writer, ids: readonly string[]) => cartsById(tx, ids),
  /** Locks a customer's orders and `more`, until the end of the write. */
  async lockOrders(tx: Writer, customerId: string, shopId: string, more: readonly string[]) {
    const customerOrders = await tx
      .select({ id: orders.id })
      .from(orders)
      .where(and(eq(orders.customerId, customerId), eq(orders.shopId, shopId)))
    const rows = await ordersById(tx, [...customerOrders.map(({ id }) => id), ...more])
    return rows.filter((order) => order.shopId === shopId)
  },
}
