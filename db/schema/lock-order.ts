/**
 * The order in which a write locks rows; rows of one table by their keys. A write that locks in another order can wait
 * in a circle with others on PostgreSQL, and the server ends one of them after a second.
 */
import { getTableName } from 'drizzle-orm'
import { products, variants } from './catalog.ts'
import { discounts } from './discounts.ts'
import { payments, refunds } from './payments.ts'
import { carts, customerTotals, giftCards, orderNumbers, orders } from './selling.ts'

/** All orders of a shop wait for its number, so it comes last. */
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
  orderNumbers,
].map(getTableName)

/** Returns a table's place in the order. Other tables come just before the last one, in any order. */
export function lockRankOf(table: string): number {
  const rank = order.indexOf(table)
  return rank < 0 ? order.length - 1.5 : rank
}
