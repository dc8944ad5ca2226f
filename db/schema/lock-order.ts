/**
 * The order in which a write locks rows: by table, then by key. On PostgreSQL, writes in different orders can deadlock;
 * the server ends one of them after a second.
 */
import { getTableName } from 'drizzle-orm'
import { products, variants } from './catalog.ts'
import { discounts } from './discounts.ts'
import { creditNoteNumbers } from './invoices.ts'
import { payments, refunds } from './payments.ts'
import { carts, customerTotals, giftCards, orderNumbers, orders } from './selling.ts'

/** All orders of a shop lock its number, so it comes last. */
const order: readonly string[] = [
  carts,
  orders,
  refunds,
  payments,
  variants,
  products,
  giftCards,
  discounts,
  customerTotals,
  creditNoteNumbers,
  orderNumbers,
].map(getTableName)

/** Returns a table's place in the order. Other tables come just before the last one, in any order. */
export function lockRankOf(table: string): number {
  const rank = order.indexOf(table)
  return rank < 0 ? order.length - 1.5 : rank
}
