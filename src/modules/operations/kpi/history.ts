import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { type AskedWindow, type KpiPart, previousOf, type Span, windowOf } from './domain.ts'
import { kpiStore as store } from './store.ts'

export type ReadDeps = Pick<Deps, 'db' | 'clock' | 'life'>

const triedAgainSeconds = 30

/**
 * The days that are asked for.
 * @param part whose figures
 * @throws AppError UNAVAILABLE while what was there before these were kept is being counted: a past without sales would be a lie. Those of shops are told as soon
 *   as their days and as many before have been
 */
export async function spanOf({ db, clock, life }: ReadDeps, asked: AskedWindow, part: KpiPart = 'NETWORK'): Promise<Span> {
  const span = windowOf(asked, clock.now())
  const isCounting = () => life.countingPast === 'NETWORK' || life.countingPast === part
  // Another process may have counted it, whatever became of it here.
  if (isCounting() && (await store.filledAt(db.read, part)) !== undefined) life.countingPast = part === 'NETWORK' ? 'SHOPS' : undefined
  if (!isCounting()) return span
  const from = part === 'SHOPS' ? await store.countedFrom(db.read, part) : undefined
  if (from !== undefined && previousOf(span).from >= from) return span
  throw new AppError('UNAVAILABLE', 'What was sold before this version is still being counted: try again later', {
    retryAfterSeconds: triedAgainSeconds,
  })
}
