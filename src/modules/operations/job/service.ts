import type { Change } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { idleBecause, isJobName, type JobName } from '../../../core/job-table.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { labelled } from '../../../lib/prometheus.ts'
import { audited } from '../audit/index.ts'
import { type JobView, jobView } from './domain.ts'
import { createJobBoard } from './job-status.ts'
import type { JobDeps } from './providers.ts'
import { createJobStore } from './store.ts'

/** Every job: its last run, how it stands, and when it runs next. */
export const listJobs = async ({ jobBoard }: Pick<JobDeps, 'jobBoard'>): Promise<JobView[]> => (await jobBoard.statuses()).map(jobView)

/** The same by the database alone, for a process that runs none of them. */
export function storedJobs(deps: Pick<Deps, 'db' | 'config' | 'clock' | 'log' | 'processName'>): Promise<JobView[]> {
  return listJobs({ jobBoard: createJobBoard({ ...deps, jobStore: createJobStore(deps.db), liveNotes: { note: () => undefined } }) })
}

/** @throws AppError NOT_FOUND for what is no job */
export function assertJob(name: string): JobName {
  if (!isJobName(name)) throw new AppError('NOT_FOUND', 'No such job')
  return name
}

/**
 * Has a job run now, also one that is switched off. It begins at once where this process runs it, and otherwise within 10 seconds in
 * the one that does; asked for twice before it has begun, it runs once.
 * @throws AppError NOT_FOUND for what is no job, CONFLICT while it runs, and where the settings leave it nothing to do
 */
export async function requestRun(
  deps: Pick<Deps, 'db' | 'clock' | 'newId' | 'config'> & JobDeps,
  change: Pick<Change, 'actor' | 'write'>,
  named: string,
): Promise<{ name: JobName; requestedAt: string }> {
  const name = assertJob(named)
  const { jobBoard: board, jobStore: store, clock, config } = deps
  const why = idleBecause(name, config)
  if (why !== undefined) throw new AppError('CONFLICT', `The job has nothing to do: ${why}`)
  const requested = await audited(deps, change, { action: 'job.requested', subject: name }, async (tx, tell) => {
    const row = await store.find(tx, name)
    if (board.isRunning(name, row)) throw new AppError('CONFLICT', 'The job is running')
    if (!row) await store.add(tx, [name])
    const requestedAt = row?.requestedAt ?? clock.now()
    if (!row?.requestedAt) await store.request(tx, name, requestedAt)
    tell({ before: { requestedAt: row?.requestedAt ?? null }, after: { requestedAt } })
    return { name, ...isoTimes({ requestedAt }) }
  })
  void board.poke(name)
  return requested
}

/** All of a job are there from the beginning: the first failure is then seen to come. */
const outcomes = ['OK', 'FAILED', 'SKIPPED'] as const

/** Jobs in figures, in Prometheus' text format: what this process knows of them. */
export function jobLines({ jobBoard }: Pick<JobDeps, 'jobBoard'>): string[] {
  const { jobs, counts } = jobBoard.figures()
  const ended = new Map(counts)
  const of = (value: (job: (typeof jobs)[number]) => number | null) =>
    jobs.flatMap((job) => {
      const known = value(job)
      return known === null ? [] : [{ labels: { job_name: job.name }, value: known }]
    })
  return [
    ...labelled(
      'souk_job_last_success_timestamp_seconds',
      'When a run of the job last ended well, in seconds since 1970.',
      of(({ succeededAt }) => (succeededAt === null ? null : succeededAt / 1000)),
    ),
    ...labelled(
      'souk_job_interval_seconds',
      'What lies between two runs of the job by its schedule.',
      of(({ intervalMs }) => (intervalMs === null ? null : intervalMs / 1000)),
    ),
    ...labelled(
      'souk_job_last_duration_seconds',
      'How long the last run of the job took.',
      of(({ durationMs }) => (durationMs === null ? null : durationMs / 1000)),
    ),
    ...labelled(
      'souk_job_runs_total',
      'Runs of jobs that ended in this process, by result.',
      jobs.flatMap(({ name }) =>
        outcomes.map((result) => ({
          labels: { job_name: name, result: result.toLowerCase() },
          value: ended.get(`${name} ${result}`) ?? 0,
        })),
      ),
      'counter',
    ),
    ...labelled(
      'souk_job_running',
      'Runs of the job under way in this process.',
      of(({ running }) => running),
    ),
    ...labelled(
      'souk_job_stuck',
      'Of those, runs that take longer than they may.',
      of(({ stuck }) => stuck),
    ),
  ]
}
