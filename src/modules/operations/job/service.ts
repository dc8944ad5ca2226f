import type { CommandContext } from '../../../core/command-context.ts'
import type { Deps } from '../../../core/deps.ts'
import { AppError } from '../../../core/errors.ts'
import { idleReason, isJobName, type JobName } from '../../../lib/job-table.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { labelledMetric } from '../../../lib/prometheus.ts'
import { audited } from '../audit/index.ts'
import { type JobView, jobView } from './domain.ts'
import { createJobRunner } from './job-runner.ts'
import type { JobDeps } from './providers.ts'
import { createJobStore } from './store.ts'

/** Lists every job with its state, its last runs and its next run. */
export const listJobs = async ({ jobRunner }: Pick<JobDeps, 'jobRunner'>): Promise<JobView[]> => (await jobRunner.statuses()).map(jobView)

/** Lists jobs from the database alone, for a process that runs none. */
export function storedJobs(deps: Pick<Deps, 'db' | 'config' | 'clock' | 'log' | 'processName'>): Promise<JobView[]> {
  return listJobs({ jobRunner: createJobRunner({ ...deps, jobStore: createJobStore(deps.db), liveNotes: { note: () => undefined } }) })
}

/** @throws AppError NOT_FOUND for an unknown job */
export function assertJob(name: string): JobName {
  if (!isJobName(name)) throw new AppError('NOT_FOUND', 'No such job')
  return name
}

/**
 * Requests a run, also of a job that is switched off. It starts at once if this process holds the job, otherwise within
 * 10 seconds. Repeated requests before the start are one run.
 * @throws AppError NOT_FOUND for an unknown job; CONFLICT while it runs and if the settings leave it nothing to do
 */
export async function requestRun(
  deps: Pick<Deps, 'db' | 'clock' | 'newId' | 'config'> & JobDeps,
  change: Pick<CommandContext, 'actor' | 'write'>,
  jobName: string,
): Promise<{ name: JobName; requestedAt: string }> {
  const name = assertJob(jobName)
  const { jobRunner: runner, jobStore: store, clock, config } = deps
  const why = idleReason(name, config)
  if (why !== undefined) throw new AppError('CONFLICT', `The job is idle: ${why}`)
  const requested = await audited(deps, change, { action: 'job.requested', subject: name }, async (tx, setDifference) => {
    const row = await store.find(tx, name)
    if (runner.isRunning(name, row)) throw new AppError('CONFLICT', 'The job is already running')
    if (!row) await store.add(tx, [name])
    const requestedAt = row?.requestedAt ?? clock.now()
    if (!row?.requestedAt) await store.request(tx, name, requestedAt)
    setDifference({ before: { requestedAt: row?.requestedAt ?? null }, after: { requestedAt } })
    return { name, ...isoTimes({ requestedAt }) }
  })
  void runner.handleRequest(name)
  return requested
}

/** Every result has a series from the start, so that the first failure shows as an increase. */
const outcomes = ['OK', 'FAILED', 'SKIPPED'] as const

/** Builds Prometheus metrics of the jobs of this process. */
export function jobLines({ jobRunner }: Pick<JobDeps, 'jobRunner'>): string[] {
  const { jobs, counts } = jobRunner.figures()
  const runCounts = new Map(counts)
  const of = (value: (job: (typeof jobs)[number]) => number | null) =>
    jobs.flatMap((job) => {
      const figure = value(job)
      return figure === null ? [] : [{ labels: { job_name: job.name }, value: figure }]
    })
  return [
    ...labelledMetric(
      'souk_job_last_success_timestamp_seconds',
      'When a run of the job last succeeded, in seconds since 1970.',
      of(({ succeededAt }) => (succeededAt === null ? null : succeededAt / 1000)),
    ),
    ...labelledMetric(
      'souk_job_interval_seconds',
      'Scheduled time between two runs of the job.',
      of(({ intervalMs }) => (intervalMs === null ? null : intervalMs / 1000)),
    ),
    ...labelledMetric(
      'souk_job_last_duration_seconds',
      'How long the last run of the job took.',
      of(({ durationMs }) => (durationMs === null ? null : durationMs / 1000)),
    ),
    ...labelledMetric(
      'souk_job_runs_total',
      'Runs of jobs that ended in this process, by result.',
      jobs.flatMap(({ name }) =>
        outcomes.map((result) => ({
          labels: { job_name: name, result: result.toLowerCase() },
          value: runCounts.get(`${name} ${result}`) ?? 0,
        })),
      ),
      'counter',
    ),
    ...labelledMetric(
      'souk_job_running',
      'Runs of the job that are running in this process.',
      of(({ running }) => running),
    ),
    ...labelledMetric(
      'souk_job_stuck',
      'Running runs that take longer than they may.',
      of(({ stuck }) => stuck),
    ),
  ]
}
