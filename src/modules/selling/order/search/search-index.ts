import type { Writer } from '../../../../../db/engine.ts'
import { type Filling, fillSearch, fillUnknown } from '../../../../core/backfill.ts'
import { searchWordsOf } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import { findingStore } from './search-store.ts'

/**
 * Makes anew what an order is found by, from what its rows say now: for whoever changes its addresses, its e-mail address or its tracking, in that
 * write and behind the change.
 */
export async function reindexOrder(tx: Writer, { orderStore }: Pick<OrderDeps, 'orderStore'>, orderId: string): Promise<void> {
  const order = await orderStore.lock(tx, orderId)
  if (!order) return
  const [lines, parcels] = [await orderStore.lines(orderId, tx), await orderStore.parcelsOf(tx, orderId)]
  await findingStore.replace(tx, order, searchWordsOf(order, lines, parcels))
}

type FillDeps = Pick<OrderDeps, 'db' | 'clock' | 'log' | 'orderStore'>

const filling = (deps: FillDeps): Filling => ({
  ...findingStore,
  subject: 'orders',
  kind: 'order',
  index: (tx, id) => reindexOrder(tx, deps, id),
})

/** Makes orders findable that are older than the search. @returns how many, and whether those were all */
export const fillOrderSearch = (deps: FillDeps): Promise<{ filled: number; isDone: boolean }> => fillSearch(deps, filling(deps))

/** The same of those that a process of an older version has placed lately. @returns how many */
export const fillUnknownOrders = (deps: FillDeps): Promise<number> => fillUnknown(deps, filling(deps))
