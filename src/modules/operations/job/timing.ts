import type { Schedule } from '../../../core/schedule.ts'
import type { JobEntry } from '../../../lib/job-table.ts'
import { stuckAfter } from './domain.ts'

/** Returns the interval of a job and when a run counts as stuck. */
export function timingOf(
  { stuckAfterMs }: JobEntry,
  schedule: Schedule | undefined,
  now: number,
): { intervalMs: number; stuckAfterMs: number } {
  const next = schedule?.next(now)
  const intervalMs = next === undefined ? Number.POSITIVE_INFINITY : (schedule?.next(next) ?? Number.POSITIVE_INFINITY) - next
  return { intervalMs, stuckAfterMs: stuckAfterMs ?? stuckAfter(intervalMs) }
}
