import { openSchedule } from '../../../core/schedule.ts'
import { idleReason, type JobName, jobNames, jobTable, patternOf, runsInEachProcess } from '../../../lib/job-table.ts'
import { pick } from '../../../lib/objects.ts'
import { type JobRow, type JobStatus, noProgress } from './domain.ts'
import { mergeProgress, progressOf } from './progress.ts'
import { isBusy, isRunHere, isStuck, type RunnerState } from './runner-state.ts'
import { timingOf } from './timing.ts'

/** Returns whether a job runs, in this process or in another one. */
export function isRunning(state: RunnerState, name: JobName, row: JobRow | undefined): boolean {
  const job = state.jobs.get(name)
  return job && (isRunHere(state, job) || job.runs.size > 0) ? isBusy(job) : (row?.runningSince ?? null) !== null
}

/** Returns the state of every job. */
export async function jobStatuses(state: RunnerState): Promise<JobStatus[]> {
  const stored = new Map((await state.jobStore.all()).map((row) => [row.name, row]))
  return Promise.all(jobNames.map((name) => jobStatus(state, name, stored.get(name))))
}

async function jobStatus(state: RunnerState, name: JobName, row: JobRow | undefined): Promise<JobStatus> {
  const { jobs, config, clock, isAlone, processName, hasStarted } = state
  const now = clock.now()
  const job = jobs.get(name)
  const entry = jobTable[name]
  const everyProcess = runsInEachProcess(entry)
  const pattern = patternOf(name, config)
  const schedule = job?.schedule ?? (pattern === undefined ? undefined : await openSchedule(pattern))
  const storedProgress = row ? progressOf(row) : noProgress
  const ownProgress = job && hasStarted && isRunHere(state, job) ? job.progress : undefined
  const progress = (everyProcess && ownProgress ? mergeProgress(ownProgress, storedProgress) : ownProgress) ?? storedProgress
  const [oldest] = job?.runs ?? []
  const runningSince = oldest?.at ?? progress.runningSince
  const { stuckAfterMs } = timingOf(entry, schedule, now)
  const hasStuckRun = job && oldest ? isStuck(job) : runningSince !== null && now - runningSince >= stuckAfterMs
  const thisProcess = jobs.size > 0 ? processName : null
  return {
    name,
    pattern,
    everyProcess,
    holder: everyProcess ? null : isAlone ? thisProcess : (row?.holder ?? null),
    ...progress,
    state: hasStuckRun ? 'stuck' : runningSince !== null ? 'running' : pattern === undefined ? 'off' : 'idle',
    idleBecause: idleReason(name, config) ?? null,
    runningSince,
    requestedAt: row?.requestedAt ?? null,
    nextRun: schedule?.next(now) ?? null,
  }
}

/** Returns figures of this process's jobs for the metrics, without reading the database. */
export const jobFigures = (state: RunnerState) =>
  [...state.jobs.values()].map((job) => {
    const row = state.rows.get(job.name)
    const progress = isRunHere(state, job) || !row ? job.progress : progressOf(row)
    return {
      name: job.name,
      ...pick(progress, 'succeededAt', 'durationMs'),
      intervalMs: Number.isFinite(job.intervalMs) ? job.intervalMs : null,
      running: job.runs.size,
      stuck: [...job.runs].filter((run) => run.isStuck).length,
    }
  })
