import type { Writer } from '../../../../db/engine.ts'
import { runUntracked } from '../../../core/request-context.ts'
import { type JobName, runsInEachProcess } from '../../../lib/job-table.ts'
import { holdMs, interruptedError, type JobRow, leaseMs } from './domain.ts'
import { progressOf, withEndedRun } from './progress.ts'
import { isStuck, type RunnerState, type ScheduledJob } from './runner-state.ts'

const write = ({ db }: RunnerState, work: (tx: Writer) => Promise<string[]>): Promise<string[]> =>
  runUntracked(() => db.write(work, { isolation: 'locking' }))

/** Reads the rows of all jobs and creates missing ones. */
export async function readRows(state: RunnerState): Promise<void> {
  const { db, jobs, jobStore } = state
  const read = async () => {
    state.rows = new Map((await jobStore.all()).map((row) => [row.name, row]))
  }
  await read()
  const missing = [...jobs.keys()].filter((name) => !state.rows.has(name))
  if (missing.length === 0) return
  await runUntracked(() => db.write((tx) => jobStore.add(tx, missing)))
  await read()
}

/** Loads the stored progress of a job that this process takes over. A run that was active is lost. */
export function adoptRow({ liveNotes, log }: RunnerState, job: ScheduledJob, row: JobRow): void {
  job.progress = progressOf(row)
  if (row.runningSince === null) return
  const lost = { startedAt: row.runningSince, endedAt: null, durationMs: null, result: 'LOST', error: interruptedError } as const
  job.progress = withEndedRun(job.progress, lost)
  job.isNew = true
  liveNotes.note({ name: 'job.finished', shopId: null, data: { job: job.name, result: 'LOST', durationMs: null } })
  log.warn('job.lost', { job: job.name, advice: interruptedError })
}

/** Returns whether a row has no holder, or its holder sent no heartbeat for a lease. */
function isFree({ processName, lastSeen, clock }: RunnerState, { name, holder, beat }: JobRow): boolean {
  if (holder === null || holder === processName) return true
  const before = lastSeen.get(name)
  const now = clock.monotonic()
  if (before?.holder === holder && before.beat === beat) return now - before.at >= leaseMs
  lastSeen.set(name, { holder, beat, at: now })
  return false
}

/**
 * Renews leases, releases stuck jobs, and takes over free ones.
 * @returns the jobs that were taken over
 */
export async function maintainLeases(state: RunnerState): Promise<ScheduledJob[]> {
  const { jobs, rows, leasedJobs, jobStore, processName, clock, log } = state
  const sentAt = clock.monotonic()
  const leasedStates = [...jobs.values()].filter(({ name }) => leasedJobs.has(name))
  const stuck = leasedStates.filter(isStuck).map(({ name }) => name)
  const renewable = leasedStates.filter((job) => !isStuck(job)).map(({ name }) => name)
  if (stuck.length > 0) await write(state, (tx) => jobStore.release(tx, processName, stuck))
  const stillHeld = renewable.length > 0 ? await write(state, (tx) => jobStore.renew(tx, processName, renewable)) : []
  const lost = renewable.filter((name) => !stillHeld.includes(name))
  if (lost.length > 0) log.warn('jobs.taken_over', { jobs: lost, advice: 'This process was paused for longer than a lease' })
  state.leasedJobs = new Set(stillHeld)
  state.leasedUntil = sentAt + holdMs
  const free = [...jobs.values()].flatMap((job) => {
    const row = rows.get(job.name)
    const isWanted = job.pattern !== undefined || row?.requestedAt != null
    const isOpen = !runsInEachProcess(job.entry) && !state.leasedJobs.has(job.name) && job.runs.size === 0 && isWanted
    return row && isOpen && isFree(state, row) ? [row] : []
  })
  if (free.length === 0) return []
  const claimed = await write(state, (tx) => jobStore.claim(tx, processName, free))
  return claimed.flatMap((name) => {
    const [job, row] = [jobs.get(name as JobName), rows.get(name)]
    state.leasedJobs.add(name)
    if (!job || !row) return []
    adoptRow(state, job, row)
    return [job]
  })
}

/** Releases all leases, so that other processes take over at once. */
export async function releaseLeases(state: RunnerState): Promise<void> {
  const { leasedJobs, jobStore, processName, log } = state
  if (leasedJobs.size > 0)
    await write(state, (tx) => jobStore.release(tx, processName, [...leasedJobs] as JobName[])).catch((error: unknown) =>
      log.warn('jobs.not_released', { error }),
    )
  state.leasedJobs = new Set()
}
