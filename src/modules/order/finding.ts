import type { Writer } from '../../../db/engine.ts'
import { fillSearch } from '../../core/filling.ts'
import { wordsOf } from '../../lib/words.ts'
import type { Fulfilment, Order, OrderLine } from './domain.ts'
import { findingStore } from './finding-store.ts'
import type { OrderDeps } from './parts.ts'

/** Of an order, in the order in which they are kept: the rest of very many titles is not found. */
const wordsMax = 150

/** What an order is found by: its number, e-mail address, the names of its addresses, tracking numbers, SKUs and titles. */
export function wordingOf(
  order: Pick<Order, 'email' | 'shippingAddress' | 'billingAddress'>,
  lines: readonly Pick<OrderLine, 'title' | 'variantTitle' | 'sku'>[],
  parcels: readonly Pick<Fulfilment, 'trackingNumber'>[],
): readonly string[] {
  const names = [order.shippingAddress, order.billingAddress].flatMap((address) => (address ? [address.name, address.company] : []))
  const texts = [
    order.email,
    ...names,
    ...parcels.map(({ trackingNumber }) => trackingNumber),
    ...lines.map(({ sku }) => sku),
    ...lines.flatMap(({ title, variantTitle }) => [title, variantTitle]),
  ]
  return wordsOf(texts.filter((text) => text !== null).join(' '), wordsMax)
}

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
