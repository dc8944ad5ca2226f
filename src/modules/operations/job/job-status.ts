import type { Deps } from '../../../core/deps.ts'
import { idleBecause, isOfEach, type JobEntry, type JobName, jobNames, jobTable, patternOf } from '../../../core/job-table.ts'
import { aside } from '../../../core/request-context.ts'
import { openSchedule, type Schedule } from '../../../core/schedule.ts'
import { pick } from '../../../lib/objects.ts'
import { createTally } from '../../../lib/prometheus.ts'
import type { LiveDeps } from '../../messaging/live-events/index.ts'
import { errorText, holdMs, type JobStatus, leaseMs, lostError, mergedRuns, rareMs, runsOf, stuckAfter, tellEveryMs } from './domain.ts'
import { ended, nothingTold, toldOf, withOthers } from './progress.ts'
import type { JobRow, JobStore, Told } from './store.ts'

/** What came of a run. SKIPPED: it was not one. */
export type Outcome = { readonly result: 'OK' | 'SKIPPED' } | { readonly result: 'FAILED'; readonly error: unknown }
/** A job of the table, and what it does; it throws nothing. */
export type Runnable = { readonly name: JobName; readonly perform: () => Promise<Outcome> }

/** When it began, by the clock and by the one that nobody sets. */
type Run = { readonly at: number; readonly since: number; isStuck: boolean }
type Job = Runnable & {
  readonly entry: JobEntry
  readonly pattern: string | undefined
  readonly schedule: Schedule | undefined
  readonly intervalMs: number
  readonly stuckAfterMs: number
  readonly isRare: boolean
  readonly runs: Set<Run>
  told: Told
  /** Something of it is not in the database yet. */
  isNew: boolean
  /** Somebody asked for a run while one was under way. */
  isRequested: boolean
  /** The run that begins was asked for. */
  wasRequested: boolean
}

const busyMs = 60_000
/** A run that takes longer is noted in its row at once, for other processes and for whoever starts after a crash. Of shorter ones a commit each would be too much. */
const notedMs = 5_000

type BoardDeps = { readonly liveNotes: Pick<LiveDeps['liveNotes'], 'note'> } & Pick<
  Deps,
  'db' | 'config' | 'clock' | 'log' | 'processName'
> & { readonly jobStore: JobStore }
export type JobBoard = ReturnType<typeof createJobBoard>

/**
 * Runs the jobs of this process: each never twice at once, but for those that see to that themselves. Of several processes on one
 * database one runs a job, the one that holds its row: it says by a number that goes up that it lives, and whoever has seen the number
 * stand still for `leaseMs` takes the job over by one conditional write. Each measures that by its own clock that nobody sets, so that
 * clocks which differ or jump change nothing. A job whose run is stuck is given back. On a file this process is alone, and writes no
 * such rows. What came of runs is kept in memory and written once a minute, at the stop, and at once where it is news.
 */
export function createJobBoard({ db, config, clock, log, processName, liveNotes, jobStore: store }: BoardDeps) {
  const alone = config.databaseUrl.startsWith('file:')
  const jobs = new Map<JobName, Job>()
  const underWay = new Set<Promise<void>>()
  const counts = createTally()
  /** Of each job that another process holds: what was last seen of its row, and when. */
  const seen = new Map<string, Pick<JobRow, 'holder' | 'beat'> & { at: number }>()
  let held = new Set<string>()
  let heldUntil = Number.NEGATIVE_INFINITY
  let rows = new Map<string, JobRow>()
  let toldAt = clock.monotonic()
  let hasBegun = false
  let isStopping = false
  let isAway = false
  let beating: Promise<void> | undefined

  /** Whether it is for this process to run a job. */
  const isOurs = ({ name, entry }: Job): boolean => alone || isOfEach(entry) || (held.has(name) && clock.monotonic() < heldUntil)
  const isBusy = ({ runs, entry }: Job): boolean => runs.size > 0 && !entry.overlaps

  async function perform(job: Job): Promise<void> {
    const run: Run = { at: clock.now(), since: clock.monotonic(), isStuck: false }
    job.runs.add(run)
    const isTold = job.isRare || job.wasRequested
    job.wasRequested = false
    if (isTold) liveNotes.note({ name: 'job.started', shopId: null, data: { job: job.name } })
    const [outcome] = await Promise.all([job.perform(), isTold ? begun(job, run) : undefined])
    job.runs.delete(run)
    counts.add(`${job.name} ${outcome.result}`)
    if (run.isStuck) log.warn('job.ended_after_all', { job: job.name, afterMs: clock.monotonic() - run.since })
    tellEnd(job, run, outcome.result, isTold)
    if (isOurs(job)) await note(job, run, outcome, isTold)
    if (job.isRequested) await takeUp(job.name)
  }

  /** Whoever follows the jobs hears of a run that they were told began, and of all that come to something else than the one before. */
  function tellEnd(job: Job, run: Run, result: Outcome['result'], isTold: boolean): void {
    const isOther = result !== 'SKIPPED' && job.told.result !== null && job.told.result !== result
    if (!isTold && !isOther) return
    const durationMs = Math.round(clock.monotonic() - run.since)
    liveNotes.note({ name: 'job.finished', shopId: null, data: { job: job.name, result, durationMs } })
  }

  /** Writes that a run has begun of which people are told: where its process ends before it does, whoever has the job next tells that it was lost. */
  async function begun(job: Job, run: Run): Promise<void> {
    if (!isOurs(job) || isOfEach(job.entry) || isStopping) return
    job.told = { ...job.told, runningSince: run.at }
    job.isNew = true
    await tell([job])
  }

  /** Keeps what came of a run; writes it where that is news, or people were told that it began. */
  async function note(job: Job, run: Run, outcome: Outcome, isTold: boolean): Promise<void> {
    if (outcome.result === 'SKIPPED') {
      if (job.told.runningSince !== run.at) return
      job.told = { ...job.told, runningSince: null }
      job.isNew = true
      return isStopping ? undefined : tell([job])
    }
    const endedAt = clock.now()
    const isOk = outcome.result === 'OK'
    const isNews = isTold || job.told.result !== outcome.result || run.isStuck
    job.told = ended(job.told, {
      startedAt: run.at,
      endedAt,
      durationMs: Math.round(clock.monotonic() - run.since),
      result: isOk ? 'OK' : 'FAILED',
      error: outcome.result === 'FAILED' ? errorText(outcome.error) : null,
    })
    job.isNew = true
    if (isNews && !isStopping) await tell([job])
  }

  /** Starts a run that `stop` waits for. */
  function start(job: Job): Promise<void> {
    const work = perform(job).finally(() => underWay.delete(work))
    underWay.add(work)
    return work
  }

  /** The time of a job has come: runs it, unless another process does, or it is running. */
  async function tick(name: JobName): Promise<void> {
    const job = jobs.get(name)
    if (job && !isStopping && isOurs(job) && !isBusy(job)) await start(job)
  }

  /** Runs a job that somebody has asked for, where that is for this process to do; later, while it is running. */
  async function takeUp(name: JobName): Promise<void> {
    const job = jobs.get(name)
    if (!job || isStopping || !isOurs(job)) return
    job.isRequested = isBusy(job)
    if (job.isRequested) return
    try {
      // With its beginning: a process that ends in between leaves word of it.
      if (!(await aside(() => db.write((tx) => store.take(tx, name, clock.now()))))) return
      job.wasRequested = true
      await start(job)
    } catch (error) {
      log.warn('jobs.request_not_taken', { job: name, error })
    }
  }

  /** Somebody asked for a run, by a row: it is taken up here where that is for this process, or nobody has the job yet. */
  const poke = (name: JobName): Promise<void> => {
    const job = jobs.get(name)
    return job && !isOurs(job) ? beat() : takeUp(name)
  }

  /** Writes what is known of jobs, in one commit. */
  async function tell(which: readonly Job[]): Promise<void> {
    const news = which.filter(({ isNew }) => isNew).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    if (news.length === 0) return
    for (const job of news) job.isNew = false
    try {
      await aside(() =>
        db.write(
          async (tx) => {
            for (const { name, entry, told } of news) {
              const row = isOfEach(entry) ? await store.find(tx, name) : undefined
              const all = row ? { ...told, lastRuns: mergedRuns(runsOf(told), runsOf(row)) } : told
              await store.tell(tx, name, all, alone || isOfEach(entry) ? undefined : processName)
            }
          },
          { isolation: 'locking' },
        ),
      )
    } catch (error) {
      for (const job of news) job.isNew = true
      log.warn('jobs.not_kept', { jobs: news.map(({ name }) => name), error })
    }
  }

  /** Notes which runs are under way for long, and says of those that are stuck that they are. */
  async function lookForLong(): Promise<void> {
    const news: Job[] = []
    for (const job of jobs.values()) {
      const [oldest] = job.runs
      if (!oldest) continue
      const forMs = clock.monotonic() - oldest.since
      if (forMs >= notedMs && job.told.runningSince !== oldest.at) {
        job.told = { ...job.told, runningSince: oldest.at }
        job.isNew = true
        news.push(job)
      }
      for (const run of job.runs) {
        const runsMs = clock.monotonic() - run.since
        if (run.isStuck || runsMs < job.stuckAfterMs) continue
        run.isStuck = true
        news.push(job)
        log.error('job.stuck', {
          job: job.name,
          forMs: runsMs,
          advice: 'it goes on, and is not begun again in this process before it ends: restart it if nothing else helps',
        })
      }
    }
    await tell(news)
  }

  /** Takes what is known of a job from its row, when it comes to this process; a run that was under way then was lost. */
  function learn(job: Job, row: JobRow): void {
    job.told = toldOf(row)
    if (row.runningSince === null) return
    const lost = { startedAt: row.runningSince, endedAt: null, durationMs: null, result: 'LOST', error: lostError } as const
    job.told = ended(job.told, lost)
    job.isNew = true
    liveNotes.note({ name: 'job.finished', shopId: null, data: { job: job.name, result: 'LOST', durationMs: null } })
    log.warn('job.lost', { job: job.name, advice: lostError })
  }

  /** Runs a job now that had its time while nobody ran it, where its next is far. */
  function makeUp(job: Job): void {
    const now = clock.now()
    const missed = job.schedule?.last(now)
    if (!job.isRare || missed === undefined || job.told.startedAt === null || missed <= job.told.startedAt) return
    if ((job.schedule?.next(now) ?? now) - now > busyMs) void tick(job.name)
  }

  /** Says that the jobs that are held are, gives back those that are stuck, and takes over those that nobody has. */
  async function hold(): Promise<void> {
    const sentAt = clock.monotonic()
    const isStuck = (name: string) => [...(jobs.get(name as JobName)?.runs ?? [])].some((run) => run.isStuck)
    const [kept, given] = [[...held].filter((name) => !isStuck(name)), [...held].filter(isStuck)] as [JobName[], JobName[]]
    if (given.length > 0) await write((tx) => store.release(tx, processName, given))
    const still = kept.length > 0 ? await write((tx) => store.renew(tx, processName, kept)) : []
    if (still.length < kept.length)
      log.warn('jobs.taken_over', {
        jobs: kept.filter((name) => !still.includes(name)),
        advice: 'this process stood still for longer than a lease lasts',
      })
    held = new Set(still)
    heldUntil = sentAt + holdMs
    const free = [...jobs.values()].flatMap((job) => {
      const row = rows.get(job.name)
      const isWanted = job.pattern !== undefined || row?.requestedAt != null
      return row && !isOfEach(job.entry) && !held.has(job.name) && job.runs.size === 0 && isWanted && isFree(row) ? [row] : []
    })
    if (free.length === 0) return
    for (const name of await write((tx) => store.claim(tx, processName, free))) {
      const [job, row] = [jobs.get(name as JobName), rows.get(name)]
      held.add(name)
      if (!job || !row) continue
      learn(job, row)
      makeUp(job)
    }
  }

  const write = (work: Parameters<typeof db.write<string[]>>[0]) => aside(() => db.write(work, { isolation: 'locking' }))

  /** Whether nobody holds a row, or its holder has not been heard of for as long as a lease lasts. */
  function isFree({ name, holder, beat }: JobRow): boolean {
    if (holder === null || holder === processName) return true
    const before = seen.get(name)
    const now = clock.monotonic()
    if (before?.holder === holder && before.beat === beat) return now - before.at >= leaseMs
    seen.set(name, { holder, beat, at: now })
    return false
  }

  async function read(): Promise<void> {
    rows = new Map((await store.all()).map((row) => [row.name, row]))
    const missing = [...jobs.keys()].filter((name) => !rows.has(name))
    if (missing.length === 0) return
    await aside(() => db.write((tx) => store.add(tx, missing)))
    rows = new Map((await store.all()).map((row) => [row.name, row]))
  }

  async function beatOnce(): Promise<void> {
    await lookForLong()
    try {
      const isFirst = !hasBegun
      if (isFirst || !alone) await read()
      if (isFirst)
        for (const job of jobs.values()) {
          const row = rows.get(job.name)
          if (!row || !(alone || isOfEach(job.entry))) continue
          if (alone) learn(job, row)
          else job.told = toldOf({ ...row, runningSince: null })
        }
      hasBegun = true
      if (!alone) await hold()
      if (isFirst) for (const job of jobs.values()) beginOne(job)
      for (const { name, requestedAt } of isFirst || !alone ? rows.values() : []) if (requestedAt !== null) void takeUp(name as JobName)
      if (isAway) log.info('jobs.database_back')
      isAway = false
    } catch (error) {
      if (!isAway)
        log.warn('jobs.database_away', { error, advice: 'jobs of which one process runs each wait, where several share the database' })
      isAway = true
    }
    if (clock.monotonic() - toldAt < tellEveryMs) return
    toldAt = clock.monotonic()
    await tell([...jobs.values()])
  }

  function beginOne(job: Job): void {
    if (job.entry.atStart && job.pattern !== undefined) void tick(job.name)
    else if (alone) makeUp(job)
  }

  /** Looks after leases, requests, runs that take long, and what is to be written. Called every 10 seconds. */
  function beat(): Promise<void> {
    beating ??= beatOnce().finally(() => {
      beating = undefined
    })
    return isStopping ? Promise.resolve() : beating
  }

  /** The jobs of this process, from now on. */
  async function begin(given: readonly Runnable[]): Promise<void> {
    for (const one of given) {
      const entry = jobTable[one.name]
      const pattern = patternOf(one.name, config)
      const schedule = pattern === undefined ? undefined : await openSchedule(pattern)
      const { intervalMs, stuckAfterMs } = pacesOf(entry, schedule, clock.now())
      const isRare = intervalMs >= rareMs
      jobs.set(one.name, {
        ...one,
        entry,
        pattern,
        schedule,
        intervalMs,
        stuckAfterMs,
        isRare,
        runs: new Set(),
        told: nothingTold,
        isNew: false,
        isRequested: false,
        wasRequested: false,
      })
    }
    await beat()
  }

  /** Begins nothing more, waits for what runs, keeps what is known, and gives back what is held. */
  async function stop(): Promise<void> {
    isStopping = true
    await Promise.all([...underWay, beating])
    await tell([...jobs.values()])
    if (held.size > 0)
      await write((tx) => store.release(tx, processName, [...held] as JobName[])).catch((error: unknown) =>
        log.warn('jobs.not_released', { error }),
      )
    held = new Set()
  }

  const isRunning = (name: JobName, row: JobRow | undefined): boolean => {
    const job = jobs.get(name)
    return job && (isOurs(job) || job.runs.size > 0) ? isBusy(job) : (row?.runningSince ?? null) !== null
  }

  /** What is known of every job. */
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
        const known = row ? toldOf(row) : nothingTold
        const told = !(job && isOurs(job) && hasBegun) ? known : isOfEach(entry) ? withOthers(job.told, known) : job.told
        const [oldest] = job?.runs ?? []
        const runningSince = oldest?.at ?? told.runningSince
        const { stuckAfterMs } = pacesOf(entry, schedule, now)
        const isStuck = oldest
          ? [...(job?.runs ?? [])].some((run) => run.isStuck)
          : runningSince !== null && now - runningSince >= stuckAfterMs
        const state = isStuck ? 'stuck' : runningSince !== null ? 'running' : pattern === undefined ? 'off' : 'idle'
        const holder = isOfEach(entry) ? null : alone ? (jobs.size > 0 ? processName : null) : (row?.holder ?? null)
        const nextRun = schedule?.next(now) ?? null
        return {
          name,
          pattern,
          everyProcess: isOfEach(entry),
          holder,
          ...told,
          state,
          idleBecause: idleBecause(name, config) ?? null,
          runningSince,
          requestedAt: row?.requestedAt ?? null,
          nextRun,
        }
      }),
    )
  }

  /** What is known of jobs without asking the database, for the metrics. */
  const figures = () => ({
    counts: counts.all(),
    jobs: [...jobs.values()].map((job) => {
      const row = rows.get(job.name)
      const told = isOurs(job) || !row ? job.told : toldOf(row)
      return {
        name: job.name,
        ...pick(told, 'succeededAt', 'durationMs'),
        intervalMs: Number.isFinite(job.intervalMs) ? job.intervalMs : null,
        running: job.runs.size,
        stuck: [...job.runs].filter((run) => run.isStuck).length,
      }
    }),
  })

  return { begin, tick, beat, poke, stop, statuses, isRunning, figures }
}

/** What lies between two runs of a job, and after how long one of them counts as stuck. */
function pacesOf({ stuckAfterMs }: JobEntry, schedule: Schedule | undefined, now: number): { intervalMs: number; stuckAfterMs: number } {
  const next = schedule?.next(now)
  const intervalMs = next === undefined ? Number.POSITIVE_INFINITY : (schedule?.next(next) ?? Number.POSITIVE_INFINITY) - next
  return { intervalMs, stuckAfterMs: stuckAfterMs ?? stuckAfter(intervalMs) }
}
