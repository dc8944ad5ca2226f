import type { Database } from '../../db/engine.ts'
import { minuteMs } from '../lib/day.ts'
import { type IdKind, idBoundary } from '../lib/ids.ts'
import type { Deps } from './deps.ts'

/** What was made before that has all been committed, where clocks stand together; what comes later all the same is seen to when it comes. */
const settledMs = 5 * minuteMs

/**
 * Has the late pages of a shop's list cost no more than its first from now on: beside whoever asked for a page, who does not wait for it.
 * @param shorten of the list's store, up to an id
 */
export function shortenList(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  shorten: (db: Database, shopId: string, before: string) => Promise<number>,
  shopId: string,
  kind: IdKind,
): void {
  shorten(db, shopId, idBoundary(kind, clock.now() - settledMs)).catch((error: unknown) =>
    log.warn('list.not_shortened', { shop: shopId, error }),
  )
}
