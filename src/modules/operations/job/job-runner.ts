import { runUntracked } from '../../../core/request-context.ts'
import { type JobName, runsInEachProcess } from '../../../lib/job-table.ts'
import { createTally } from '../../../lib/prometheus.ts'
import { type JobRow, progressWriteMs } from './domain.ts'
import { isRunning, jobFigures, jobStatuses } from './job-statuses.ts'
import { adoptRow, maintainLeases, readRows, releaseLeases } from './leases.ts'
import { progressOf } from './progress.ts'
import { recordEnd, recordLongRuns, recordStart, writeProgress } from './progress-writer.ts'
import {
  type ActiveRun,
  addJob,
  createRunnerState,
  isBusy,
  isRunHere,
  type JobRunnerDeps,
  type Runnable,
  type RunOutcome,
  type ScheduledJob,
} from './runner-state.ts'

const catchUpMinMs = 60_000

/**
 * Runs the jobs of this process. A job never runs twice at once unless it allows that.
 * One process runs a job: the holder of its row, which raises a number as a heartbeat. A process that sees the number
 * unchanged for `leaseMs` takes over with one conditional write.
 * Each process measures this on its own monotonic clock, so wrong clocks do not matter. A stuck job is released.
 * On an embedded database there are no such rows. Progress is kept in memory and written once a minute, at the stop,
 * and at once if it is news.
 */
export function createJobRunner(deps: JobRunnerDeps) {
  const { db, clock, log, liveNotes, jobStore } = deps
  const state = createRunnerState(deps)
  const { jobs, isAlone } = state
  const running = new Set<Promise<void>>()
  const counts = createTally()
  let writtenAt = clock.monotonic()
  let isDatabaseAway = false
  let currentHeartbeat: Promise<void> | undefined

  async function perform(job: ScheduledJob): Promise<void> {
    const run: ActiveRun = { at: clock.now(), since: clock.monotonic(), isStuck: false }
    job.runs.add(run)
    const isReported = job.isRare || job.wasRequested
    job.wasRequested = false
    if (isReported) liveNotes.note({ name: 'job.started', shopId: null, data: { job: job.name } })
    const [outcome] = await Promise.all([job.perform(), isReported ? recordStart(state, job, run) : undefined])
    job.runs.delete(run)
    counts.add(`${job.name} ${outcome.result}`)
    if (run.isStuck) log.warn('job.ended_after_all', { job: job.name, afterMs: clock.monotonic() - run.since })
    notifyEnd(job, run, outcome.result, isReported)
    if (isRunHere(state, job)) await recordEnd(state, job, run, outcome, isReported)
    if (job.isRequested) await runRequested(job.name)
  }

  /** Notifies live clients of the end of reported runs, and of runs with another result than the last one. */
  function notifyEnd(job: ScheduledJob, run: ActiveRun, result: RunOutcome['result'], isReported: boolean): void {
    const isChanged = result !== 'SKIPPED' && job.progress.result !== null && job.progress.result !== result
    if (!isReported && !isChanged) return
    const durationMs = Math.round(clock.monotonic() - run.since)
    liveNotes.note({ name: 'job.finished', shopId: null, data: { job: job.name, result, durationMs } })
  }

  /** Starts a run that `stop` waits for. */
  function startRun(job: ScheduledJob): Promise<void> {
    const work = perform(job).finally(() => running.delete(work))
    running.add(work)
    return work
  }

  /** Runs a job on schedule unless another process holds it or it is running. */
  async function runScheduled(name: JobName): Promise<void> {
    const job = jobs.get(name)
    if (job && !state.isStopping && isRunHere(state, job) && !isBusy(job)) await startRun(job)
  }

  /** Runs a requested job if this process holds it; after the current run if it is running. */
  async function runRequested(name: JobName): Promise<void> {
    const job = jobs.get(name)
    if (!job || state.isStopping || !isRunHere(state, job)) return
    job.isRequested = isBusy(job)
    if (job.isRequested) return
    try {
      // Removes the request and stores the start in one write, so that a crash leaves a trace.
      if (!(await runUntracked(() => db.write((tx) => jobStore.takeRequest(tx, name, clock.now()))))) return
      job.wasRequested = true
      await startRun(job)
    } catch (error) {
      log.warn('jobs.request_not_taken', { job: name, error })
    }
  }

  /** Runs a job at once if its scheduled time was missed and the next one is far away. */
  function catchUp(job: ScheduledJob): void {
    const now = clock.now()
    const missed = job.schedule?.last(now)
    if (!job.isRare || missed === undefined || job.progress.startedAt === null || missed <= job.progress.startedAt) return
    if ((job.schedule?.next(now) ?? now) - now > catchUpMinMs) void runScheduled(job.name)
  }

  /** Loads the stored progress of the jobs that this process need not claim. */
  function loadProgress(): void {
    for (const job of jobs.values()) {
      const row = state.rows.get(job.name)
      if (row && isAlone) adoptRow(state, job, row)
      else if (row && runsInEachProcess(job.entry)) job.progress = progressOf({ ...row, runningSince: null })
    }
  }

  function runInitially(job: ScheduledJob): void {
    if (job.entry.atStart && job.pattern !== undefined) void runScheduled(job.name)
    else if (isAlone) catchUp(job)
  }

  async function heartbeatOnce(): Promise<void> {
    await recordLongRuns(state)
    try {
      const isFirst = !state.hasStarted
      if (isFirst || !isAlone) await readRows(state)
      if (isFirst) loadProgress()
      state.hasStarted = true
      if (!isAlone) for (const job of await maintainLeases(state)) catchUp(job)
      if (isFirst) for (const job of jobs.values()) runInitially(job)
      for (const { name, requestedAt } of isFirst || !isAlone ? state.rows.values() : [])
        if (requestedAt !== null) void runRequested(name as JobName)
      if (isDatabaseAway) log.info('jobs.database_back')
      isDatabaseAway = false
    } catch (error) {
      if (!isDatabaseAway)
        log.warn('jobs.database_away', { error, advice: 'Jobs that run in one process wait, if several share the database' })
      isDatabaseAway = true
    }
    if (clock.monotonic() - writtenAt < progressWriteMs) return
    writtenAt = clock.monotonic()
    await writeProgress(state, jobs.values())
  }

  /** Maintains leases, requests, long runs and pending progress. Called every 10 seconds. */
  function heartbeat(): Promise<void> {
    currentHeartbeat ??= heartbeatOnce().finally(() => {
      currentHeartbeat = undefined
    })
    return state.isStopping ? Promise.resolve() : currentHeartbeat
  }

  return {
    /** Sets the jobs of this process and starts them. */
    async start(runnables: readonly Runnable[]): Promise<void> {
      for (const runnable of runnables) await addJob(state, runnable)
      await heartbeat()
    },
    runScheduled,
    heartbeat,
    /** Handles a request for a run: here if this process holds the job or nobody does. */
    handleRequest(name: JobName): Promise<void> {
      const job = jobs.get(name)
      return job && !isRunHere(state, job) ? heartbeat() : runRequested(name)
    },
    /** Starts no more runs, waits for running ones, writes progress and releases leases. */
    async stop(): Promise<void> {
      state.isStopping = true
      await Promise.all([...running, currentHeartbeat])
      await writeProgress(state, jobs.values())
      await releaseLeases(state)
    },
    statuses: () => jobStatuses(state),
    isRunning: (name: JobName, row: JobRow | undefined) => isRunning(state, name, row),
    figures: () => ({ counts: counts.all(), jobs: jobFigures(state) }),
  }
}
