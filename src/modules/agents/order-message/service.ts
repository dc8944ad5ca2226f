import type { Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { inBatches } from '../../../lib/batches.ts'
import { retentionMs } from '../../messaging/webhook/domain.ts'
import type { OutboxConsumer } from '../../messaging/webhook/index.ts'
import { orderIdOf, uuidOf } from './domain.ts'
import { type OrderMessage, orderMessageStore as store } from './store.ts'

/** Rows per write. */
const deletionBatchSize = 500

/** Queues a message for each event of an order that a platform placed. It is rendered when it is sent. */
export const consumeOutbox =
  ({ clock, randomBytes }: Pick<Deps, 'clock' | 'randomBytes'>): OutboxConsumer =>
  async (tx, messages) => {
    const ids = messages.flatMap((message) => orderIdOf(message) ?? [])
    const agentOrders = ids.length === 0 ? [] : await store.ordersOf(tx, [...new Set(ids)])
    const now = clock.now()
    const times = { nextAt: now, createdAt: now, updatedAt: now }
    const rows = agentOrders.flatMap(({ id: orderId, shopId, last }) =>
      ids
        .filter((id) => id === orderId)
        .map((_, nth): OrderMessage => {
          const id = uuidOf(randomBytes(16))
          return { id, shopId, orderId, sequence: last + nth + 1, url: '', body: '', status: 'PENDING', attempts: 0, ...times }
        }),
    )
    if (rows.length > 0) await store.insert(tx, rows)
  }

/** Deletes messages that were sent or given up, after a month. */
export async function deleteOldOrderMessages({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  const before = clock.now() - retentionMs
  await inBatches(deletionBatchSize, () => db.write((tx: Writer) => store.removeOld(tx, before, deletionBatchSize)))
}
