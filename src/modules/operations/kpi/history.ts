import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { type KpiPart, previousOf, type Span, type WindowQuery, windowOf } from './domain.ts'
import { kpiStore as store } from './store.ts'

export type ReadDeps = Pick<Deps, 'db' | 'clock' | 'life'>

const retryAfterSeconds = 30

/**
 * Returns the window of a request once its days are counted.
 * @param part whose figures are read
 * @param zone the time zone of the days
 * @throws AppError UNAVAILABLE during the backfill, since missing sales would be wrong figures; shops' figures are
 * available once the window and the previous one are counted
 */
export async function countedWindow(
  { db, clock, life }: ReadDeps,
  query: WindowQuery,
  part: KpiPart = 'NETWORK',
  zone?: string,
): Promise<Span> {
  const span = windowOf(query, clock.now(), zone)
  const isCounting = () => life.countingPast === 'NETWORK' || life.countingPast === part
  // Another process may have finished the backfill.
  if (isCounting() && (await store.filledAt(db.read, part)) !== undefined) life.countingPast = part === 'NETWORK' ? 'SHOPS' : undefined
  if (!isCounting()) return span
  const from = part === 'SHOPS' ? await store.countedFrom(db.read, part) : undefined
  if (from !== undefined && previousOf(span).from >= from) return span
  throw new AppError('UNAVAILABLE', 'Sales from before this version are still being counted. Try again later', {
    retryAfterSeconds: retryAfterSeconds,
  })
}
