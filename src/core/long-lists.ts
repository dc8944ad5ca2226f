import type { Database } from '../../db/engine.ts'
import { minuteMs } from '../lib/day.ts'
import { type IdKind, idBoundary } from '../lib/ids.ts'
import type { Deps } from './deps.ts'

/** Writes older than this are committed, if clocks agree. Later ones are counted when they commit. */
const settledMs = 5 * minuteMs

/**
 * Extends the page index of a shop's list in the background, so that late pages cost no more than the first.
 * @param shorten extends the index of the list up to an id
 */
export function extendPageIndex(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  shorten: (db: Database, shopId: string, before: string) => Promise<number>,
  shopId: string,
  kind: IdKind,
): void {
  shorten(db, shopId, idBoundary(kind, clock.now() - settledMs)).catch((error: unknown) =>
    log.warn('list.not_shortened', { shop: shopId, error }),
  )
}
