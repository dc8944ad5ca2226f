import type { Deps } from '../../core/deps.ts'
import { AppError } from '../../core/errors.ts'
import { type AskedWindow, type Span, windowOf } from './domain.ts'
import { kpiStore as store } from './store.ts'

export type ReadDeps = Pick<Deps, 'db' | 'clock' | 'life'>

const triedAgainSeconds = 30

/**
 * The days that are asked for.
 * @throws AppError UNAVAILABLE while what was there before figures were kept is being counted: a past without sales would be a lie
 */
export async function spanOf({ db, clock, life }: ReadDeps, asked: AskedWindow): Promise<Span> {
  const span = windowOf(asked, clock.now())
  // Another process may have counted it, whatever became of it here.
  if (life.countingPast && (await store.isFilled(db.read))) life.countingPast = false
  if (!life.countingPast) return span
  throw new AppError('UNAVAILABLE', 'What was sold before this version is still being counted: try again later', {
    retryAfterSeconds: triedAgainSeconds,
  })
}
