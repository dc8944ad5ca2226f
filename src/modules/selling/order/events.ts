import type { Writer } from '../../../../db/engine.ts'
import type { OrderEvent } from './domain.ts'
import type { OrderDeps } from './providers.ts'

/** An event to append to an order. */
export type NewOrderEvent = Pick<OrderEvent, 'type'> & Partial<Pick<OrderEvent, 'detail' | 'actor'>>
type Deps = Pick<OrderDeps, 'orderStore' | 'newId' | 'clock'>

/** Appends an event to an order, inside the write that causes it. */
export const appendEvent = (
  tx: Writer,
  deps: Deps,
  { orderId, ...events }: NewOrderEvent & Pick<OrderEvent, 'orderId'>,
  knownEvents?: OrderEvent[],
): Promise<void> => appendEvents(tx, deps, orderId, [events], knownEvents)

/**
 * Appends several events in order.
 * @param knownEvents all events of the order so far; new ones are added. A concurrent event at the same position is a
 *   unique violation
 */
export async function appendEvents(
  tx: Writer,
  { orderStore, newId, clock }: Deps,
  orderId: string,
  newEvents: readonly NewOrderEvent[],
  knownEvents?: OrderEvent[],
): Promise<void> {
  const at = clock.now()
  const events = newEvents.map(({ type, detail = {}, actor = 'system' }) => ({ id: newId('event'), orderId, type, at, actor, detail }))
  if (!knownEvents) return orderStore.appendEvents(tx, orderId, events)
  const placed = events.map((event, nth) => ({ ...event, position: knownEvents.length + nth + 1 }))
  knownEvents.push(...placed)
  return orderStore.insertEvents(tx, orderId, placed)
}
