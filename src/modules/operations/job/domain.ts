import type { JobRun, jobs } from '../../../../db/schema/jobs.ts'
import { hourMs, minuteMs } from '../../../lib/day.ts'
import { redact } from '../../../lib/log.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'

/** How often a holder renews its leases and reads those of others. */
export const heartbeatPattern = '*/10 * * * * *'
/** Another process takes over the jobs of a holder without a heartbeat for this long. */
export const leaseMs = 30_000
/** A holder that could not renew stops running its jobs after this time, before another process starts them. */
export const holdMs = 20_000
/** How often unimportant progress is written. */
export const progressWriteMs = minuteMs
/** Jobs with at least this interval write each run, and a missed run is caught up. */
export const rareMs = 10 * minuteMs
/** The limit of an error text. */
const errorLengthMax = 500

/**
 * The last runs that are kept, and older failed ones. Jobs that run every few seconds would lose their failures
 * otherwise.
 */
export const runsKept = { last: 15, failed: 5 } as const
/** The limit of an error text of older runs. */
const oldErrorLengthMax = 200

/** Adds a run to the stored runs, newest first. */
export function withRun(runs: readonly JobRun[], run: JobRun): JobRun[] {
  return limitRuns([run, ...runs])
}

/** Merges the runs of all processes, newest first. */
export function mergedRuns(...lists: readonly (readonly JobRun[])[]): JobRun[] {
  const byRun = new Map(lists.flat().map((run) => [`${run.startedAt} ${run.endedAt} ${run.result}`, run]))
  return limitRuns([...byRun.values()].sort((a, b) => b.startedAt - a.startedAt))
}

function limitRuns(runs: readonly JobRun[]): JobRun[] {
  const shortened = runs.map((run) => ({ ...run, error: run.error?.slice(0, oldErrorLengthMax) ?? null }))
  const failed = shortened.slice(runsKept.last).filter(({ result }) => result !== 'OK')
  return [...shortened.slice(0, runsKept.last), ...failed.slice(0, runsKept.failed)]
}

type StoredRun = { readonly [Name in keyof JobRun]: JobRun[Name] | null } & { readonly lastRuns: readonly JobRun[] | null }
/** Returns the runs of a row, newest first. Older versions store only the last run. */
export function runsOf({ startedAt, endedAt, durationMs, result, error, lastRuns }: StoredRun): readonly JobRun[] {
  const runs = lastRuns ?? []
  if (startedAt === null || result === null || runs.some((run) => run.startedAt === startedAt)) return runs
  return withRun(runs, { startedAt, endedAt, durationMs, result, error })
}

/** Returns how long a run may take before it counts as stuck, from the interval of the job. */
export const stuckAfter = (intervalMs: number): number => Math.min(6 * hourMs, Math.max(5 * minuteMs, 3 * intervalMs))

/** Returns the first line of an error, without secrets. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : 'a value that is not an Error was thrown'
  // Redacts before it cuts, since a partial secret is not recognized. Later lines may hold query parameters.
  return String(redact(text)).split('\n', 1)[0]?.slice(0, errorLengthMax) ?? ''
}

/** The error of a run whose end was not recorded. */
export const interruptedError = 'The process ended or was paused before the job was done'

export type JobRow = typeof jobs.$inferSelect
/** The progress of a job as stored. */
export type JobProgress = Pick<
  JobRow,
  'runningSince' | 'startedAt' | 'endedAt' | 'durationMs' | 'result' | 'error' | 'lastRuns' | 'succeededAt'
>
export const noProgress: JobProgress = {
  ...{ runningSince: null, startedAt: null, endedAt: null, durationMs: null, result: null, error: null, lastRuns: null, succeededAt: null },
}
type JobState = 'idle' | 'running' | 'stuck' | 'off'

/** The state of a job; times in milliseconds. */
export type JobStatus = JobProgress & {
  readonly name: string
  readonly pattern: string | undefined
  readonly everyProcess: boolean
  readonly state: JobState
  /** Why the job has nothing to do with these settings. */
  readonly idleBecause: string | null
  readonly holder: string | null
  readonly requestedAt: number | null
  readonly nextRun: number | null
}

/** Renders a job as the API shows it. */
export const jobView = (status: JobStatus) => {
  const { startedAt, endedAt, durationMs, result, error } = status
  const times = pick(status, 'runningSince', 'nextRun', 'requestedAt')
  return {
    ...pick(status, 'name', 'state', 'idleBecause', 'everyProcess', 'holder'),
    schedule: status.pattern ?? null,
    lastRun: startedAt === null || result === null ? null : { ...isoTimes({ startedAt, endedAt }), durationMs, result, error },
    lastRuns: runsOf(status).map((run) => ({
      ...isoTimes({ startedAt: run.startedAt, endedAt: run.endedAt }),
      ...pick(run, 'durationMs', 'result', 'error'),
    })),
    ...isoTimes({ lastSuccessAt: status.succeededAt, ...times }),
  }
}
export type JobView = ReturnType<typeof jobView>
