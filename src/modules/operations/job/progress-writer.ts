import { runUntracked } from '../../../core/request-context.ts'
import { runsInEachProcess } from '../../../lib/job-table.ts'
import { errorText, mergedRuns, runsOf } from './domain.ts'
import { withEndedRun } from './progress.ts'
import { type ActiveRun, isRunHere, type RunnerState, type RunOutcome, type ScheduledJob } from './runner-state.ts'

/** A longer run is written at once, for other processes and for the time after a crash. */
const longRunMs = 5_000

/** Writes the progress of jobs in one commit. */
export async function writeProgress(state: RunnerState, candidates: Iterable<ScheduledJob>): Promise<void> {
  const { db, jobStore, isAlone, processName, log } = state
  const changedJobs = [...candidates].filter(({ isNew }) => isNew).sort((a, b) => (a.name < b.name ? -1 : 1))
  if (changedJobs.length === 0) return
  for (const job of changedJobs) job.isNew = false
  try {
    await runUntracked(() =>
      db.write(
        async (tx) => {
          for (const { name, entry, progress } of changedJobs) {
            const row = runsInEachProcess(entry) ? await jobStore.find(tx, name) : undefined
            const merged = row ? { ...progress, lastRuns: mergedRuns(runsOf(progress), runsOf(row)) } : progress
            await jobStore.saveProgress(tx, name, merged, isAlone || runsInEachProcess(entry) ? undefined : processName)
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

/** Stores when the active run of a job began; null: none is active. */
function setRunningSince(job: ScheduledJob, runningSince: number | null): void {
  job.progress = { ...job.progress, runningSince }
  job.isNew = true
}

/** Records the start of a reported run, so that the next holder can report it as lost after a crash. */
export async function recordStart(state: RunnerState, job: ScheduledJob, run: ActiveRun): Promise<void> {
  if (!isRunHere(state, job) || runsInEachProcess(job.entry) || state.isStopping) return
  setRunningSince(job, run.at)
  await writeProgress(state, [job])
}

/** Records the end of a run. Writes at once if it is news or its start was reported. */
export async function recordEnd(
  state: RunnerState,
  job: ScheduledJob,
  run: ActiveRun,
  outcome: RunOutcome,
  isReported: boolean,
): Promise<void> {
  const { clock, isStopping } = state
  if (outcome.result === 'SKIPPED') {
    if (job.progress.runningSince !== run.at) return
    setRunningSince(job, null)
    return isStopping ? undefined : writeProgress(state, [job])
  }
  const isNews = isReported || job.progress.result !== outcome.result || run.isStuck
  job.progress = withEndedRun(job.progress, {
    startedAt: run.at,
    endedAt: clock.now(),
    durationMs: Math.round(clock.monotonic() - run.since),
    result: outcome.result,
    error: outcome.result === 'FAILED' ? errorText(outcome.error) : null,
  })
  job.isNew = true
  if (isNews && !isStopping) await writeProgress(state, [job])
}

/** Records long runs and logs stuck ones. */
export async function recordLongRuns(state: RunnerState): Promise<void> {
  const { jobs, clock, log } = state
  const changedJobs: ScheduledJob[] = []
  for (const job of jobs.values()) {
    const [oldest] = job.runs
    if (!oldest) continue
    if (clock.monotonic() - oldest.since >= longRunMs && job.progress.runningSince !== oldest.at) {
      setRunningSince(job, oldest.at)
      changedJobs.push(job)
    }
    for (const run of job.runs) {
      const forMs = clock.monotonic() - run.since
      if (run.isStuck || forMs < job.stuckAfterMs) continue
      run.isStuck = true
      changedJobs.push(job)
      log.error('job.stuck', {
        job: job.name,
        forMs,
        advice: "The job is still running and isn't started again in this process until it ends. If it hangs, restart the process",
      })
    }
  }
  await writeProgress(state, changedJobs)
}
