/** What is told of a job's runs. */
import type { JobRun } from '../../../../db/schema/jobs.ts'
import { pick } from '../../../lib/objects.ts'
import { mergedRuns, runsOf, withRun } from './domain.ts'
import type { JobRow, Told } from './store.ts'

/** Of a job of which nothing is known yet. */
export const nothingTold: Told = {
  ...{ runningSince: null, startedAt: null, endedAt: null, durationMs: null, result: null, error: null, lastRuns: null, succeededAt: null },
}
/** What a row says. */
export const toldOf = (row: JobRow): Told =>
  pick(row, 'runningSince', 'startedAt', 'endedAt', 'durationMs', 'result', 'error', 'lastRuns', 'succeededAt')
/** What is told of a job once a run of it has ended. */
export const ended = (told: Told, run: JobRun): Told => ({
  ...{ runningSince: null, lastRuns: withRun(runsOf(told), run) },
  ...run,
  succeededAt: run.result === 'OK' ? run.endedAt : told.succeededAt,
})
/** What this process tells of a job that each runs, with the runs of the others that are known. */
export function withOthers(told: Told, others: Told): Told {
  const lastRuns = mergedRuns(runsOf(told), runsOf(others))
  const [last] = lastRuns
  return { ...told, ...(last && last.startedAt !== told.startedAt ? last : {}), lastRuns }
}
