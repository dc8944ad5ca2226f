import { and, asc, eq, getTableColumns, gt, gte, inArray, isNotNull, isNull, lte } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { insertOf, lockedRowsOf } from '../../../../db/prepared.ts'
import { unifiedTransactions as transactions } from '../../../../db/schema/ledger.ts'
import { orderLines, orders } from '../../../../db/schema/selling.ts'
import { shops } from '../../../../db/schema/shop.ts'

export type Transaction = typeof transactions.$inferSelect
type Price = Pick<Transaction, 'id' | 'usdPerUnit' | 'usdCents'>
/** The key of a rate: rows of one order, currency and day share it. */
export type RateKey = Pick<Transaction, 'orderId' | 'currency' | 'rateDay'>
/** A sale by an affiliate; `key` names its first movement. */
type AffiliateSale = Pick<typeof orders.$inferSelect, 'id' | 'mode' | 'currency'> & {
  readonly at: number
  readonly key: string
  readonly usdPerUnit: string
  readonly lines: (typeof orderLines.$inferSelect)[]
}
type From = Pick<Reader, 'select'>

const insertNew = insertOf(transactions, 'leave')
const lockedOrder = lockedRowsOf(orders, ['id'])

export const ledgerStore = {
  /** Skips rows whose key exists. */
  async insertNew(tx: Writer, rows: readonly Transaction[]): Promise<void> {
    for (const row of rows) await insertNew(tx, row)
  },
  /** The priced rows of these orders. */
  async pricedOf(from: From, orderIds: readonly string[]): Promise<Transaction[]> {
    return from
      .select()
      .from(transactions)
      .where(and(inArray(transactions.orderId, [...orderIds]), isNotNull(transactions.usdPerUnit)))
  },
  /** The next currency with unpriced rows, by its code. */
  async nextUnpricedCurrency(from: From, after: string): Promise<string | undefined> {
    const [row] = await from
      .select({ currency: transactions.currency })
      .from(transactions)
      .where(and(isNull(transactions.usdCents), gt(transactions.currency, after)))
      .orderBy(asc(transactions.currency))
      .limit(1)
    return row?.currency
  },
  /** Some unpriced rows whose rate day is in a span. */
  async listUnpriced(from: From, currency: string, span: { from: string; to: string }, limit: number): Promise<Transaction[]> {
    const { rateDay, usdCents } = transactions
    return from
      .select()
      .from(transactions)
      .where(and(isNull(usdCents), eq(transactions.currency, currency), gte(rateDay, span.from), lte(rateDay, span.to)))
      .limit(limit)
  },
  /** Locks the orders of rows in the lock order. */
  async holdOrders(tx: Writer, rows: readonly Transaction[]): Promise<void> {
    for (const id of [...new Set(rows.map(({ orderId }) => orderId))].sort()) await tx.first(lockedOrder, { id })
  },
  /** Of these rows the unpriced ones, in order. */
  async filterUnpriced(tx: Writer, rows: readonly Transaction[]): Promise<Transaction[]> {
    if (rows.length === 0) return []
    const ids = rows.map(({ id }) => id)
    return tx
      .select()
      .from(transactions)
      .where(and(inArray(transactions.id, ids), isNull(transactions.usdCents)))
      .orderBy(asc(transactions.id))
  },
  /** Stores the value of a row. */
  async price(tx: Writer, { id, usdPerUnit, usdCents }: Price): Promise<void> {
    await tx.update(transactions).set({ usdPerUnit, usdCents }).where(eq(transactions.id, id))
  },
  /** Of these rows those that the dashboards count (the order's mode is its shop's), with the mode. */
  async counted(tx: Writer, ids: readonly string[]): Promise<(Transaction & Pick<typeof orders.$inferSelect, 'mode'>)[]> {
    if (ids.length === 0) return []
    return tx
      .select({ ...getTableColumns(transactions), mode: orders.mode })
      .from(transactions)
      .innerJoin(orders, eq(orders.id, transactions.orderId))
      .innerJoin(shops, and(eq(shops.id, orders.shopId), eq(shops.mode, orders.mode)))
      .where(inArray(transactions.id, [...ids]))
  },
  /** The affiliates' orders of these rows, with their lines, and the key and rate of their first movement as a sale. */
  async salesOfAffiliates(tx: Writer, rows: readonly Transaction[]): Promise<AffiliateSale[]> {
    const ids = [...new Set(rows.flatMap(({ orderId, affiliateId }) => (affiliateId === null ? [] : [orderId])))]
    if (ids.length === 0) return []
    const [sold, lines] = await Promise.all([
      tx
        .select({
          id: orders.id,
          mode: orders.mode,
          currency: orders.currency,
          at: orders.confirmedAt,
          key: transactions.key,
          usdPerUnit: transactions.usdPerUnit,
        })
        .from(transactions)
        .innerJoin(orders, eq(orders.id, transactions.orderId))
        .where(and(inArray(orders.id, ids), eq(transactions.confirmed, true), inArray(transactions.kind, ['CAPTURE', 'GIFT_CARD'])))
        .orderBy(asc(orders.id), asc(transactions.key)),
      tx.select().from(orderLines).where(inArray(orderLines.orderId, ids)),
    ])
    return sold.flatMap(({ at, usdPerUnit, ...sale }, nth) =>
      sold[nth - 1]?.id === sale.id || at === null || usdPerUnit === null
        ? []
        : [{ ...sale, at, usdPerUnit, lines: lines.filter(({ orderId }) => orderId === sale.id) }],
    )
  },
}
