import type { Writer } from '../../../db/engine.ts'
import type { OrderEvent } from './domain.ts'
import type { OrderDeps } from './parts.ts'

type Told = Pick<OrderEvent, 'orderId' | 'type'> & Partial<Pick<OrderEvent, 'detail' | 'actor'>>

/** Writes what happened to an order into its trail, inside the write that it tells of. */
export const appendEvent = (
  tx: Writer,
  { orderStore, newId, clock }: Pick<OrderDeps, 'orderStore' | 'newId' | 'clock'>,
  { orderId, type, detail = {}, actor = 'system' }: Told,
): Promise<void> => orderStore.appendEvent(tx, { id: newId('event'), orderId, type, at: clock.now(), actor, detail })
