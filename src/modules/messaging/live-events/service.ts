import type { Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import { aside } from '../../../core/request-context.ts'
import { inBatches } from '../../../lib/batches.ts'
import { type LiveRow, resumableMs, stockOfOrder } from './domain.ts'
import { append, type LiveStore } from './store.ts'

type Telling = Pick<Deps, 'newId' | 'clock'>
/** What is told: ids, numbers, states and small amounts, and nothing of a person. */
export type Entry = Pick<LiveRow, 'name' | 'shopId' | 'data'>

/** Tells those who listen, inside the write that it tells of. For what no other table says: see db/change-feed-query.ts. */
export const tellLive = (tx: Writer, { newId, clock }: Telling, entry: Entry): Promise<void> =>
  append(tx, { ...entry, id: newId('event'), at: clock.now() })

/** Tells whoever follows the catalog that an order has given back some of its lines, inside the write by which it did. */
export const tellStockOf = (tx: Writer, deps: Telling, { id, shopId }: { id: string; shopId: string }): Promise<void> =>
  tellLive(tx, deps, { name: stockOfOrder, shopId, data: { orderId: id } })

/** Tells of what is no write: one after the other, in a write of their own. What cannot be told is left. */
export const createNoting = ({ db, log, ...deps }: Telling & Pick<Deps, 'db' | 'log'>) => {
  let last: Promise<void> = Promise.resolve()
  return {
    note(entry: Entry): void {
      last = last.then(() =>
        aside(() => db.write((tx) => tellLive(tx, deps, entry), { isolation: 'locking' })).catch((error: unknown) =>
          log.warn('live.not_told', { name: entry.name, error }),
        ),
      )
    },
    /** Resolves when all that was noted is told. */
    idle: (): Promise<void> => last,
  }
}

const forgottenAtOnce = 500
/** Longer than a place may be gone on from, whatever clocks say. */
const keptMs = 2 * resumableMs

/** Removes what nobody can be told of any more. */
export async function forgetLive({ db, clock, liveStore }: Pick<Deps, 'db' | 'clock'> & { readonly liveStore: LiveStore }): Promise<void> {
  await inBatches(forgottenAtOnce, () => db.write((tx) => liveStore.forget(tx, clock.now() - keptMs, forgottenAtOnce)))
}
