import type { Deps } from '../../../core/deps.ts'
import { untracked } from '../../../core/request-context.ts'
import { openSchedule, type Schedule } from '../../../core/schedule.ts'
import { idleReason, type JobEntry, type JobName, jobNames, jobTable, patternOf, runsInEachProcess } from '../../../lib/job-table.ts'
import { pick } from '../../../lib/objects.ts'
import { createTally } from '../../../lib/prometheus.ts'
import type { LiveDeps } from '../../messaging/live-events/index.ts'
import { errorText, holdMs, type JobStatus, leaseMs, lostError, mergedRuns, progressWriteMs, rareMs, runsOf } from './domain.ts'
import { mergeProgress, noProgress, progressOf, withEndedRun } from './progress.ts'
import type { JobProgress, JobRow, JobStore } from './store.ts'
import { timingOf } from './timing.ts'

/** The result of a run. SKIPPED: there was nothing to do. */
export type RunOutcome = { readonly result: 'OK' | 'SKIPPED' } | { readonly result: 'FAILED'; readonly error: unknown }
/** A job with its work. `perform` never throws. */
export type Runnable = { readonly name: JobName; readonly perform: () => Promise<RunOutcome> }

/** `at`: the start by the clock; `since`: the start by the monotonic clock. */
type ActiveRun = { readonly at: number; readonly since: number; isStuck: boolean }
type ScheduledJob = Runnable & {
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

const catchUpMinMs = 60_000
/** A longer run is written at once, for other processes and for the time after a crash. */
const longRunMs = 5_000

type JobRunnerDeps = { readonly liveNotes: Pick<LiveDeps['liveNotes'], 'note'> } & Pick<
  Deps,
  'db' | 'config' | 'clock' | 'log' | 'processName'
> & { readonly jobStore: JobStore }

/**
 * Runs the jobs of this process. A job never runs twice at once unless it allows that.
 * One process runs a job: the holder of its row, which raises a number as a heartbeat. Whoever sees the number
 * unchanged for `leaseMs` takes over with one conditional write.
 * Each process measures this on its own monotonic clock, so wrong clocks do not matter. A stuck job is released.
 * On an embedded database there are no such rows. Progress is kept in memory and written once a minute, at the stop,
 * and at once if it is news.
 */
export function createJobRunner({ db, config, clock, log, processName, liveNotes, jobStore: store }: JobRunnerDeps) {
  const isAlone = config.databaseUrl.startsWith('file:')
  const jobs = new Map<JobName, ScheduledJob>()
  const running = new Set<Promise<void>>()
  const counts = createTally()
  /** The last seen state of the rows of other holders, with the time. */
  const lastSeen = new Map<string, Pick<JobRow, 'holder' | 'beat'> & { at: number }>()
  let heldJobs = new Set<string>()
  let heldUntil = Number.NEGATIVE_INFINITY
  let rows = new Map<string, JobRow>()
  let writtenAt = clock.monotonic()
  let hasStarted = false
  let isStopping = false
  let isDatabaseAway = false
  let currentBeat: Promise<void> | undefined

  /** Returns whether this process runs the job. */
  const isOurs = ({ name, entry }: ScheduledJob): boolean =>
    isAlone || runsInEachProcess(entry) || (heldJobs.has(name) && clock.monotonic() < heldUntil)
  const isBusy = ({ runs, entry }: ScheduledJob): boolean => runs.size > 0 && !entry.overlaps

  async function perform(job: ScheduledJob): Promise<void> {
    const run: ActiveRun = { at: clock.now(), since: clock.monotonic(), isStuck: false }
    job.runs.add(run)
    const isReported = job.isRare || job.wasRequested
    job.wasRequested = false
    if (isReported) liveNotes.note({ name: 'job.started', shopId: null, data: { job: job.name } })
    const [outcome] = await Promise.all([job.perform(), isReported ? recordStart(job, run) : undefined])
    job.runs.delete(run)
    counts.add(`${job.name} ${outcome.result}`)
    if (run.isStuck) log.warn('job.ended_after_all', { job: job.name, afterMs: clock.monotonic() - run.since })
    notifyEnd(job, run, outcome.result, isReported)
    if (isOurs(job)) await recordEnd(job, run, outcome, isReported)
    if (job.isRequested) await startRequested(job.name)
  }

  /** Notifies live clients of the end of reported runs, and of runs with another result than the last one. */
  function notifyEnd(job: ScheduledJob, run: ActiveRun, result: RunOutcome['result'], isReported: boolean): void {
    const isChanged = result !== 'SKIPPED' && job.progress.result !== null && job.progress.result !== result
    if (!isReported && !isChanged) return
    const durationMs = Math.round(clock.monotonic() - run.since)
    liveNotes.note({ name: 'job.finished', shopId: null, data: { job: job.name, result, durationMs } })
  }

  /** Records the start of a reported run, so that the next holder can report it as lost after a crash. */
  async function recordStart(job: ScheduledJob, run: ActiveRun): Promise<void> {
    if (!isOurs(job) || runsInEachProcess(job.entry) || isStopping) return
    job.progress = { ...job.progress, runningSince: run.at }
    job.isNew = true
    await writeProgress([job])
  }

  /** Records the end of a run. Writes at once if it is news or its start was reported. */
  async function recordEnd(job: ScheduledJob, run: ActiveRun, outcome: RunOutcome, isReported: boolean): Promise<void> {
    if (outcome.result === 'SKIPPED') {
      if (job.progress.runningSince !== run.at) return
      job.progress = { ...job.progress, runningSince: null }
      job.isNew = true
      return isStopping ? undefined : writeProgress([job])
    }
    const endedAt = clock.now()
    const isOk = outcome.result === 'OK'
    const isNews = isReported || job.progress.result !== outcome.result || run.isStuck
    job.progress = withEndedRun(job.progress, {
      startedAt: run.at,
      endedAt,
      durationMs: Math.round(clock.monotonic() - run.since),
      result: isOk ? 'OK' : 'FAILED',
      error: outcome.result === 'FAILED' ? errorText(outcome.error) : null,
    })
    job.isNew = true
    if (isNews && !isStopping) await writeProgress([job])
  }

  /** Starts a run that `stop` waits for. */
  function start(job: ScheduledJob): Promise<void> {
    const work = perform(job).finally(() => running.delete(work))
    running.add(work)
    return work
  }

  /** Runs a job on schedule unless another process holds it or it is running. */
  async function tick(name: JobName): Promise<void> {
    const job = jobs.get(name)
    if (job && !isStopping && isOurs(job) && !isBusy(job)) await start(job)
  }

  /** Runs a requested job if this process holds it; after the current run if it is running. */
  async function startRequested(name: JobName): Promise<void> {
    const job = jobs.get(name)
    if (!job || isStopping || !isOurs(job)) return
    job.isRequested = isBusy(job)
    if (job.isRequested) return
    try {
      // Removes the request and stores the start in one write, so that a crash leaves a trace.
      if (!(await untracked(() => db.write((tx) => store.takeRequest(tx, name, clock.now()))))) return
      job.wasRequested = true
      await start(job)
    } catch (error) {
      log.warn('jobs.request_not_taken', { job: name, error })
    }
  }

  /** Handles a request for a run: here if this process holds the job or nobody does. */
  const poke = (name: JobName): Promise<void> => {
    const job = jobs.get(name)
    return job && !isOurs(job) ? beat() : startRequested(name)
  }

  /** Writes the progress of jobs in one commit. */
  async function writeProgress(candidates: readonly ScheduledJob[]): Promise<void> {
    const changedJobs = candidates.filter(({ isNew }) => isNew).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    if (changedJobs.length === 0) return
    for (const job of changedJobs) job.isNew = false
    try {
      await untracked(() =>
        db.write(
          async (tx) => {
            for (const { name, entry, progress } of changedJobs) {
              const row = runsInEachProcess(entry) ? await store.find(tx, name) : undefined
              const merged = row ? { ...progress, lastRuns: mergedRuns(runsOf(progress), runsOf(row)) } : progress
              await store.saveProgress(tx, name, merged, isAlone || runsInEachProcess(entry) ? undefined : processName)
            }
          },
          { isolation: 'locking' },
        ),
      )
    } catch (error) {
      for (const job of changedJobs) job.isNew = true
      log.warn('jobs.not_kept', { jobs: changedJobs.map(({ name }) => name), error })
    }
  }

  /** Records long runs and logs stuck ones. */
  async function checkLongRuns(): Promise<void> {
    const changedJobs: ScheduledJob[] = []
    for (const job of jobs.values()) {
      const [oldest] = job.runs
      if (!oldest) continue
      const forMs = clock.monotonic() - oldest.since
      if (forMs >= longRunMs && job.progress.runningSince !== oldest.at) {
        job.progress = { ...job.progress, runningSince: oldest.at }
        job.isNew = true
        changedJobs.push(job)
      }
      for (const run of job.runs) {
        const runsMs = clock.monotonic() - run.since
        if (run.isStuck || runsMs < job.stuckAfterMs) continue
        run.isStuck = true
        changedJobs.push(job)
        log.error('job.stuck', {
          job: job.name,
          forMs: runsMs,
          advice: 'it goes on, and is not begun again in this process before it ends: restart it if nothing else helps',
        })
      }
    }
    await writeProgress(changedJobs)
  }

  /** Loads the stored progress of a job that this process takes over. A run that was active is lost. */
  function adoptRow(job: ScheduledJob, row: JobRow): void {
    job.progress = progressOf(row)
    if (row.runningSince === null) return
    const lost = { startedAt: row.runningSince, endedAt: null, durationMs: null, result: 'LOST', error: lostError } as const
    job.progress = withEndedRun(job.progress, lost)
    job.isNew = true
    liveNotes.note({ name: 'job.finished', shopId: null, data: { job: job.name, result: 'LOST', durationMs: null } })
    log.warn('job.lost', { job: job.name, advice: lostError })
  }

  /** Runs a job at once if its scheduled time was missed and the next one is far away. */
  function catchUp(job: ScheduledJob): void {
    const now = clock.now()
    const missed = job.schedule?.last(now)
    if (!job.isRare || missed === undefined || job.progress.startedAt === null || missed <= job.progress.startedAt) return
    if ((job.schedule?.next(now) ?? now) - now > catchUpMinMs) void tick(job.name)
  }

  /** Renews leases, releases stuck jobs, and takes over free ones. */
  async function maintainLeases(): Promise<void> {
    const sentAt = clock.monotonic()
    const isStuck = (name: string) => [...(jobs.get(name as JobName)?.runs ?? [])].some((run) => run.isStuck)
    const renewable = [...heldJobs].filter((name) => !isStuck(name)) as JobName[]
    const stuckNames = [...heldJobs].filter(isStuck) as JobName[]
    if (stuckNames.length > 0) await write((tx) => store.release(tx, processName, stuckNames))
    const stillHeld = renewable.length > 0 ? await write((tx) => store.renew(tx, processName, renewable)) : []
    if (stillHeld.length < renewable.length)
      log.warn('jobs.taken_over', {
        jobs: renewable.filter((name) => !stillHeld.includes(name)),
        advice: 'this process stood still for longer than a lease lasts',
      })
    heldJobs = new Set(stillHeld)
    heldUntil = sentAt + holdMs
    const free = [...jobs.values()].flatMap((job) => {
      const row = rows.get(job.name)
      const isWanted = job.pattern !== undefined || row?.requestedAt != null
      return row && !runsInEachProcess(job.entry) && !heldJobs.has(job.name) && job.runs.size === 0 && isWanted && isFree(row) ? [row] : []
    })
    if (free.length === 0) return
    for (const name of await write((tx) => store.claim(tx, processName, free))) {
      const [job, row] = [jobs.get(name as JobName), rows.get(name)]
      heldJobs.add(name)
      if (!job || !row) continue
      adoptRow(job, row)
      catchUp(job)
    }
  }

  const write = (work: Parameters<typeof db.write<string[]>>[0]) => untracked(() => db.write(work, { isolation: 'locking' }))

  /** Returns whether a row has no holder, or its holder was silent for a lease. */
  function isFree({ name, holder, beat }: JobRow): boolean {
    if (holder === null || holder === processName) return true
    const before = lastSeen.get(name)
    const now = clock.monotonic()
    if (before?.holder === holder && before.beat === beat) return now - before.at >= leaseMs
    lastSeen.set(name, { holder, beat, at: now })
    return false
  }

  async function readRows(): Promise<void> {
    rows = new Map((await store.all()).map((row) => [row.name, row]))
    const missing = [...jobs.keys()].filter((name) => !rows.has(name))
    if (missing.length === 0) return
    await untracked(() => db.write((tx) => store.add(tx, missing)))
    rows = new Map((await store.all()).map((row) => [row.name, row]))
  }

  async function beatOnce(): Promise<void> {
    await checkLongRuns()
    try {
      const isFirst = !hasStarted
      if (isFirst || !isAlone) await readRows()
      if (isFirst)
        for (const job of jobs.values()) {
          const row = rows.get(job.name)
          if (!row || !(isAlone || runsInEachProcess(job.entry))) continue
          if (isAlone) adoptRow(job, row)
          else job.progress = progressOf({ ...row, runningSince: null })
        }
      hasStarted = true
      if (!isAlone) await maintainLeases()
      if (isFirst) for (const job of jobs.values()) startInitially(job)
      for (const { name, requestedAt } of isFirst || !isAlone ? rows.values() : [])
        if (requestedAt !== null) void startRequested(name as JobName)
      if (isDatabaseAway) log.info('jobs.database_back')
      isDatabaseAway = false
    } catch (error) {
      if (!isDatabaseAway)
        log.warn('jobs.database_away', { error, advice: 'jobs of which one process runs each wait, where several share the database' })
      isDatabaseAway = true
    }
    if (clock.monotonic() - writtenAt < progressWriteMs) return
    writtenAt = clock.monotonic()
    await writeProgress([...jobs.values()])
  }

  function startInitially(job: ScheduledJob): void {
    if (job.entry.atStart && job.pattern !== undefined) void tick(job.name)
    else if (isAlone) catchUp(job)
  }

  /** Maintains leases, requests, long runs and pending progress. Called every 10 seconds. */
  function beat(): Promise<void> {
    currentBeat ??= beatOnce().finally(() => {
      currentBeat = undefined
    })
    return isStopping ? Promise.resolve() : currentBeat
  }

  /** Sets the jobs of this process and starts them. */
  async function begin(runnables: readonly Runnable[]): Promise<void> {
    for (const runnable of runnables) {
      const entry = jobTable[runnable.name]
      const pattern = patternOf(runnable.name, config)
      const schedule = pattern === undefined ? undefined : await openSchedule(pattern)
      const { intervalMs, stuckAfterMs } = timingOf(entry, schedule, clock.now())
      const isRare = intervalMs >= rareMs
      jobs.set(runnable.name, {
        ...runnable,
        entry,
        pattern,
        schedule,
        intervalMs,
        stuckAfterMs,
        isRare,
        runs: new Set(),
        progress: noProgress,
        isNew: false,
        isRequested: false,
        wasRequested: false,
      })
    }
    await beat()
  }

  /** Starts no more runs, waits for running ones, writes progress and releases leases. */
  async function stop(): Promise<void> {
    isStopping = true
    await Promise.all([...running, currentBeat])
    await writeProgress([...jobs.values()])
    if (heldJobs.size > 0)
      await write((tx) => store.release(tx, processName, [...heldJobs] as JobName[])).catch((error: unknown) =>
        log.warn('jobs.not_released', { error }),
      )
    heldJobs = new Set()
  }

  const isRunning = (name: JobName, row: JobRow | undefined): boolean => {
    const job = jobs.get(name)
    return job && (isOurs(job) || job.runs.size > 0) ? isBusy(job) : (row?.runningSince ?? null) !== null
  }

  /** Returns the state of every job. */
  async function statuses(): Promise<JobStatus[]> {
    const now = clock.now()
    const stored = new Map((await store.all()).map((row) => [row.name, row]))
    return Promise.all(
      jobNames.map(async (name) => {
        const job = jobs.get(name)
        const row = stored.get(name)
        const entry = jobTable[name]
        const pattern = patternOf(name, config)
        const schedule = job?.schedule ?? (pattern === undefined ? undefined : await openSchedule(pattern))
        const storedProgress = row ? progressOf(row) : noProgress
        const progress = !(job && isOurs(job) && hasStarted)
          ? storedProgress
          : runsInEachProcess(entry)
            ? mergeProgress(job.progress, storedProgress)
            : job.progress
        const [oldest] = job?.runs ?? []
        const runningSince = oldest?.at ?? progress.runningSince
        const { stuckAfterMs } = timingOf(entry, schedule, now)
        const isStuck = oldest
          ? [...(job?.runs ?? [])].some((run) => run.isStuck)
          : runningSince !== null && now - runningSince >= stuckAfterMs
        const state = isStuck ? 'stuck' : runningSince !== null ? 'running' : pattern === undefined ? 'off' : 'idle'
        const holder = runsInEachProcess(entry) ? null : isAlone ? (jobs.size > 0 ? processName : null) : (row?.holder ?? null)
        const nextRun = schedule?.next(now) ?? null
        return {
          name,
          pattern,
          everyProcess: runsInEachProcess(entry),
          holder,
          ...progress,
          state,
          idleBecause: idleReason(name, config) ?? null,
          runningSince,
          requestedAt: row?.requestedAt ?? null,
          nextRun,
        }
      }),
    )
  }

  /** Returns figures for the metrics without reading the database. */
  const figures = () => ({
    counts: counts.all(),
    jobs: [...jobs.values()].map((job) => {
      const row = rows.get(job.name)
      const progress = isOurs(job) || !row ? job.progress : progressOf(row)
      return {
        name: job.name,
        ...pick(progress, 'succeededAt', 'durationMs'),
        intervalMs: Number.isFinite(job.intervalMs) ? job.intervalMs : null,
        running: job.runs.size,
        stuck: [...job.runs].filter((run) => run.isStuck).length,
      }
    }),
  })

  return { begin, tick, beat, poke, stop, statuses, isRunning, figures }
}
