import type { Deps } from '../../../core/deps.ts'
import { openSchedule, type Schedule } from '../../../core/schedule.ts'
import { type JobEntry, type JobName, jobTable, patternOf, runsInEachProcess } from '../../../lib/job-table.ts'
import type { LiveDeps } from '../../messaging/live-events/index.ts'
import { type JobProgress, type JobRow, noProgress, rareMs } from './domain.ts'
import type { JobStore } from './store.ts'
import { timingOf } from './timing.ts'

/** The result of a run. SKIPPED: there was nothing to do. */
export type RunOutcome = { readonly result: 'OK' | 'SKIPPED' } | { readonly result: 'FAILED'; readonly error: unknown }
/** A job with its work. `perform` never throws. */
export type Runnable = { readonly name: JobName; readonly perform: () => Promise<RunOutcome> }

/** `at`: the start by the clock; `since`: the start by the monotonic clock. */
export type ActiveRun = { readonly at: number; readonly since: number; isStuck: boolean }
export type ScheduledJob = Runnable & {
  readonly entry: JobEntry
  readonly pattern: string | undefined
  readonly schedule: Schedule | undefined
  readonly intervalMs: number
  readonly stuckAfterMs: number
  readonly isRare: boolean
  readonly runs: Set<ActiveRun>
  progress: JobProgress
  /** Has progress that is not written yet. */
  isNew: boolean
  /** A run was requested while one was running. */
  isRequested: boolean
  /** The starting run was requested. */
  wasRequested: boolean
}

export type JobRunnerDeps = { readonly liveNotes: Pick<LiveDeps['liveNotes'], 'note'>; readonly jobStore: JobStore } & Pick<
  Deps,
  'db' | 'config' | 'clock' | 'log' | 'processName'
>

/** The jobs of a process and their leases. */
export type RunnerState = JobRunnerDeps & {
  /** The database is embedded, so no other process runs jobs and rows have no holder. */
  readonly isAlone: boolean
  readonly jobs: Map<JobName, ScheduledJob>
  /** The stored rows as of the last heartbeat. */
  rows: Map<string, JobRow>
  /** The jobs that this process holds until `leasedUntil` of the monotonic clock. */
  leasedJobs: Set<string>
  leasedUntil: number
  /** The last seen state of the rows of other holders, with the time. */
  readonly lastSeen: Map<string, Pick<JobRow, 'holder' | 'beat'> & { at: number }>
  hasStarted: boolean
  isStopping: boolean
}

/** Creates the state of a process that holds no job yet. */
export const createRunnerState = (deps: JobRunnerDeps): RunnerState => ({
  ...deps,
  isAlone: deps.config.databaseUrl.startsWith('file:'),
  jobs: new Map(),
  rows: new Map(),
  leasedJobs: new Set(),
  leasedUntil: Number.NEGATIVE_INFINITY,
  lastSeen: new Map(),
  hasStarted: false,
  isStopping: false,
})

/** Adds a job with its schedule. */
export async function addJob({ jobs, config, clock }: RunnerState, runnable: Runnable): Promise<void> {
  const entry = jobTable[runnable.name]
  const pattern = patternOf(runnable.name, config)
  const schedule = pattern === undefined ? undefined : await openSchedule(pattern)
  const timing = timingOf(entry, schedule, clock.now())
  const flags = { isRare: timing.intervalMs >= rareMs, isNew: false, isRequested: false, wasRequested: false }
  jobs.set(runnable.name, { ...runnable, entry, pattern, schedule, ...timing, ...flags, runs: new Set(), progress: noProgress })
}

/** Returns whether this process runs the job. */
export const isRunHere = ({ isAlone, leasedJobs, clock, leasedUntil }: RunnerState, { name, entry }: ScheduledJob): boolean =>
  isAlone || runsInEachProcess(entry) || (leasedJobs.has(name) && clock.monotonic() < leasedUntil)
/** Returns whether a run prevents another one. */
export const isBusy = ({ runs, entry }: ScheduledJob): boolean => runs.size > 0 && !entry.overlaps
/** Returns whether a run has exceeded the job's time limit. */
export const isStuck = ({ runs }: ScheduledJob): boolean => [...runs].some((run) => run.isStuck)
