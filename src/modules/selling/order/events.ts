import type { Writer } from '../../../../db/engine.ts'
import type { OrderEvent } from './domain.ts'
import type { OrderDeps } from './providers.ts'

/** What is told of an order. */
export type Told = Pick<OrderEvent, 'type'> & Partial<Pick<OrderEvent, 'detail' | 'actor'>>
type Deps = Pick<OrderDeps, 'orderStore' | 'newId' | 'clock'>

/** Writes what happened to an order into its trail, inside the write that it tells of. */
export const appendEvent = (
  tx: Writer,
  deps: Deps,
  { orderId, ...told }: Told & Pick<OrderEvent, 'orderId'>,
  trail?: OrderEvent[],
): Promise<void> => appendEvents(tx, deps, orderId, [told], trail)

/**
 * The same of several things, in their order.
 * @param trail all events of the order so far, where that is known: the new ones are added. Somebody else's at the same place is a unique violation
 */
export async function appendEvents(
  tx: Writer,
  { orderStore, newId, clock }: Deps,
  orderId: string,
  told: readonly Told[],
  trail?: OrderEvent[],
): Promise<void> {
  const at = clock.now()
  const events = told.map(({ type, detail = {}, actor = 'system' }) => ({ id: newId('event'), orderId, type, at, actor, detail }))
  if (!trail) return orderStore.appendEvents(tx, orderId, events)
  const placed = events.map((event, nth) => ({ ...event, position: trail.length + nth + 1 }))
  trail.push(...placed)
  return orderStore.insertEvents(tx, orderId, placed)
}
