import type { Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { runUntracked } from '../../../core/request-context.ts'
import { inBatches } from '../../../lib/batches.ts'
import { type LiveRow, resumableMs, stockOfOrder } from './domain.ts'
import { append, type LiveStore } from './store.ts'

type EventDeps = Pick<Deps, 'newId' | 'clock'>
/** The content of an event: ids, numbers, states and amounts; no personal data. */
type LiveEventEntry = Pick<LiveRow, 'name' | 'shopId' | 'data'>

/** Publishes an event inside the write that it reports, if no other table records it: see db/change-feed-query.ts. */
export const publishEvent = (tx: Writer, { newId, clock }: EventDeps, entry: LiveEventEntry): Promise<void> =>
  append(tx, { ...entry, id: newId('event'), at: clock.now() })

/** Announces inside the write that an order returned stock. */
export const announceOrderStock = (tx: Writer, deps: EventDeps, { id, shopId }: { id: string; shopId: string }): Promise<void> =>
  publishEvent(tx, deps, { name: stockOfOrder, shopId, data: { orderId: id } })

/** Publishes events outside writes, one after the other, each in its own write. Errors are logged and ignored. */
export const createEventPublisher = ({ db, log, ...deps }: EventDeps & Pick<Deps, 'db' | 'log'>) => {
  let last: Promise<void> = Promise.resolve()
  return {
    note(entry: LiveEventEntry): void {
      last = last.then(() =>
        runUntracked(() => db.write((tx) => publishEvent(tx, deps, entry), { isolation: 'locking' })).catch((error: unknown) =>
          log.warn('live.publish_failed', { name: entry.name, error }),
        ),
      )
    },
    /** Resolves when all events are published. */
    idle: (): Promise<void> => last,
  }
}

const deletionBatchSize = 500
/** Longer than streams can be resumed, whatever the clocks say. */
const retentionMs = 2 * resumableMs

/** Deletes events that no stream can resume from. */
export async function deleteOldEvents({
  db,
  clock,
  liveStore,
}: Pick<Deps, 'db' | 'clock'> & { readonly liveStore: LiveStore }): Promise<void> {
  await inBatches(deletionBatchSize, () => db.write((tx) => liveStore.forget(tx, clock.now() - retentionMs, deletionBatchSize)))
}
