import type { Writer } from '../../../../../db/engine.ts'
import { backfillSearch, indexMissed, type SearchBackfill } from '../../../../core/backfill.ts'
import { searchWordsOf } from '../listing.ts'
import type { OrderDeps } from '../providers.ts'
import { orderIndexStore } from './search-index-store.ts'
import { findingStore } from './search-store.ts'

/**
 * Rebuilds the search words of an order from its rows, in the write that changed its addresses, e-mail address or
 * tracking, after the change.
 */
export async function reindexOrder(tx: Writer, { orderStore }: Pick<OrderDeps, 'orderStore'>, orderId: string): Promise<void> {
  const order = await orderStore.lock(tx, orderId)
  if (!order) return
  const [lines, parcels] = [await orderStore.lines(orderId, tx), await orderStore.parcelsOf(tx, orderId)]
  await orderIndexStore.replace(tx, order, searchWordsOf(order, lines, parcels))
}

type FillDeps = Pick<OrderDeps, 'db' | 'clock' | 'log' | 'orderStore'>

const filling = (deps: FillDeps): SearchBackfill => ({
  ...findingStore,
  subject: 'orders',
  kind: 'order',
  index: (tx, id) => reindexOrder(tx, deps, id),
})

/**
 * Indexes orders older than the search.
 * @returns their number, and whether those were all
 */
export const fillOrderSearch = (deps: FillDeps): Promise<{ filled: number; isDone: boolean }> => backfillSearch(deps, filling(deps))

/**
 * Indexes orders that a process of an older version placed lately.
 * @returns their number
 */
export const fillUnknownOrders = (deps: FillDeps): Promise<number> => indexMissed(deps, filling(deps))
