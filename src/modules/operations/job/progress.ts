/** The progress of a job's runs. */
import type { JobRun } from '../../../../db/schema/jobs.ts'
import { pick } from '../../../lib/objects.ts'
import { type JobProgress, type JobRow, mergedRuns, runsOf, withRun } from './domain.ts'

/** Returns the progress that a row stores, without its holder. */
export const progressOf = (row: JobRow): JobProgress =>
  pick(row, 'runningSince', 'startedAt', 'endedAt', 'durationMs', 'result', 'error', 'lastRuns', 'succeededAt')
/** Adds an ended run. */
export const withEndedRun = (progress: JobProgress, run: JobRun): JobProgress => ({
  ...{ runningSince: null, lastRuns: withRun(runsOf(progress), run) },
  ...run,
  succeededAt: run.result === 'OK' ? run.endedAt : progress.succeededAt,
})
/** Merges the progress of this process with the stored one, for jobs that every process runs. */
export function mergeProgress(local: JobProgress, stored: JobProgress): JobProgress {
  const lastRuns = mergedRuns(runsOf(local), runsOf(stored))
  const [last] = lastRuns
  return { ...local, ...(last && last.startedAt !== local.startedAt ? last : {}), lastRuns }
}
