import type { Writer } from '../../../db/engine.ts'
import { fillSearch } from '../../core/filling.ts'
import { wordingOf } from './domain.ts'
import { findingStore } from './finding-store.ts'
import type { OrderDeps } from './parts.ts'

/**
 * Makes anew what an order is found by, from what its rows say now: for whoever changes its addresses, its e-mail address or its tracking, in that
 * write and behind the change.
 */
export async function reindexOrder(tx: Writer, { orderStore }: Pick<OrderDeps, 'orderStore'>, orderId: string): Promise<void> {
  const order = await orderStore.lock(tx, orderId)
  if (!order) return
  const [lines, parcels] = [await orderStore.lines(orderId, tx), await orderStore.parcelsOf(tx, orderId)]
  await findingStore.replace(tx, order, wordingOf(order, lines, parcels))
}

/** Makes orders findable that are older than the search. @returns how many, and whether those were all */
export const fillOrderSearch = (deps: Pick<OrderDeps, 'db' | 'log' | 'orderStore'>): Promise<{ filled: number; isDone: boolean }> =>
  fillSearch(deps, { ...findingStore, subject: 'orders', index: (tx, id) => reindexOrder(tx, deps, id) })
