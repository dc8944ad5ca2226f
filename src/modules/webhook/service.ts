import type { Writer } from '../../../db/engine.ts'
import type { Deps } from '../../deps.ts'
import { messageBody, type WebhookEvent } from './domain.ts'
import { webhookStore as store } from './store.ts'

export type Message = {
  shopId: string
  event: WebhookEvent
  /** Names what happened, so that it is told once: `order.confirmed:order_…`. */
  key: string
  /** What the receivers get to see, as JSON. */
  data: unknown
  /** Not to be sent before `releaseMessage`: what it tells of is not final yet. */
  held: boolean
}

/**
 * Prepares a message to the shop's webhook endpoints; call what it returns inside the write that it tells of. A second
 * message under a key changes nothing.
 */
export function prepareMessage(
  { clock, newId }: Pick<Deps, 'clock' | 'newId'>,
  { shopId, event, key, data, held }: Message,
): (tx: Writer) => Promise<void> {
  const now = clock.now()
  const row = {
    id: newId('message'),
    key,
    shopId,
    event,
    body: messageBody(event, now, data),
    status: held ? ('HELD' as const) : ('PENDING' as const),
    createdAt: now,
  }
  return (tx) => store.insertMessage(tx, row)
}

/** Lets a held message go out. Done again, or for a message that was never held, it changes nothing. */
export const releaseMessage = (tx: Writer, key: string): Promise<void> => store.releaseMessage(tx, key)

/** Takes a held message back, as though it had never been written; one that was released is not touched. */
export const withdrawMessage = (tx: Writer, key: string): Promise<void> => store.removeHeldMessage(tx, key)
