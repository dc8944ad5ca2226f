import { and, asc, eq, gt, gte, inArray, isNotNull, isNull, lte } from 'drizzle-orm'
import type { Reader, Writer } from '../../../db/engine.ts'
import { insertOf } from '../../../db/prepared.ts'
import { unifiedTransactions as transactions } from '../../../db/schema/ledger.ts'

export type Transaction = typeof transactions.$inferSelect
export type Price = Pick<Transaction, 'id' | 'usdPerUnit' | 'usdCents'>
/** Which rate a row has: those of one order, currency and day share it. */
export type RateKey = Pick<Transaction, 'orderId' | 'currency' | 'rateDay'>
export type Unpriced = RateKey & Pick<Transaction, 'id' | 'amount'>
type From = Pick<Reader, 'select'>

const insertNew = insertOf(transactions, 'leave')

export const ledgerStore = {
  /** Those whose key is there already are left out. */
  async insertNew(tx: Writer, rows: readonly Transaction[]): Promise<void> {
    for (const row of rows) await insertNew(tx, row)
  },
  /** The rates by which rows of these orders were priced. */
  async ratesOf(from: From, orderIds: readonly string[]): Promise<(RateKey & Pick<Transaction, 'usdPerUnit'>)[]> {
    const { orderId, currency, rateDay, usdPerUnit } = transactions
    return from
      .select({ orderId, currency, rateDay, usdPerUnit })
      .from(transactions)
      .where(and(inArray(orderId, [...orderIds]), isNotNull(usdPerUnit)))
  },
  /** The next currency, by its code, of which there are rows without a worth. */
  async nextUnpricedCurrency(from: From, after: string): Promise<string | undefined> {
    const [row] = await from
      .select({ currency: transactions.currency })
      .from(transactions)
      .where(and(isNull(transactions.usdCents), gt(transactions.currency, after)))
      .orderBy(asc(transactions.currency))
      .limit(1)
    return row?.currency
  },
  /** Some of the rows without a worth whose rate is of one of these days. */
  async unpriced(from: From, currency: string, span: { from: string; to: string }, limit: number): Promise<Unpriced[]> {
    const { id, orderId, amount, rateDay, usdCents } = transactions
    return from
      .select({ id, orderId, currency: transactions.currency, amount, rateDay })
      .from(transactions)
      .where(and(isNull(usdCents), eq(transactions.currency, currency), gte(rateDay, span.from), lte(rateDay, span.to)))
      .limit(limit)
  },
  /** Gives a row its worth, unless it has one. */
  async price(tx: Writer, { id, usdPerUnit, usdCents }: Price): Promise<void> {
    await tx
      .update(transactions)
      .set({ usdPerUnit, usdCents })
      .where(and(eq(transactions.id, id), isNull(transactions.usdCents)))
  },
}
