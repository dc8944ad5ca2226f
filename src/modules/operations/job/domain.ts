import type { JobRun } from '../../../../db/schema/jobs.ts'
import { hourMs, minuteMs } from '../../../lib/day.ts'
import { redact } from '../../../lib/log.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'

/** Whoever holds a job says so this often, and looks what others hold. */
export const beatPattern = '*/10 * * * * *'
/** A holder of whom nothing was heard for so long has died, or cannot go on: another takes its jobs over. */
export const leaseMs = 30_000
/** A holder that could not say so for so long runs none of them any more: before another begins. */
export const holdMs = 20_000
/** What is known of runs is written this often, where nothing about it matters sooner. */
export const tellEveryMs = minuteMs
/** Runs that are as far apart as this are written each; and one that was missed is made up for. */
export const rareMs = 10 * minuteMs
/** Of the text of an error. */
const errorLengthMax = 500

/** So many of the last runs are kept, and besides them so many older ones that went wrong: of a job that runs every few seconds those would be gone in a minute. */
export const runsKept = { last: 15, wrong: 5 } as const
/** Of the text of an error of a run that is not the last one. */
const oldErrorLengthMax = 200

/** The runs that are kept of a job, the newest first, once another one has ended. */
export function withRun(runs: readonly JobRun[], run: JobRun): JobRun[] {
  return keptOf([run, ...runs])
}

/** The runs that are kept of a job that each process runs: those of all, the newest first. */
export function mergedRuns(...lists: readonly (readonly JobRun[])[]): JobRun[] {
  const once = new Map(lists.flat().map((run) => [`${run.startedAt} ${run.endedAt} ${run.result}`, run]))
  return keptOf([...once.values()].sort((a, b) => b.startedAt - a.startedAt))
}

function keptOf(runs: readonly JobRun[]): JobRun[] {
  const all = runs.map((one) => ({ ...one, error: one.error?.slice(0, oldErrorLengthMax) ?? null }))
  const wrong = all.slice(runsKept.last).filter(({ result }) => result !== 'OK')
  return [...all.slice(0, runsKept.last), ...wrong.slice(0, runsKept.wrong)]
}

type Noted = { readonly [Name in keyof JobRun]: JobRun[Name] | null } & { readonly lastRuns: readonly JobRun[] | null }
/** The runs that a row has, the newest first: a process of an older version notes its last one alone. */
export function runsOf({ startedAt, endedAt, durationMs, result, error, lastRuns }: Noted): readonly JobRun[] {
  const runs = lastRuns ?? []
  if (startedAt === null || result === null || runs.some((run) => run.startedAt === startedAt)) return runs
  return withRun(runs, { startedAt, endedAt, durationMs, result, error })
}

/** How long a run may take before it counts as stuck, by what lies between two of them. */
export const stuckAfter = (intervalMs: number): number => Math.min(6 * hourMs, Math.max(5 * minuteMs, 3 * intervalMs))

/** What is kept of an error: its first line, without secrets. */
export function errorText(error: unknown): string {
  const said = error instanceof Error ? `${error.name}: ${error.message}` : 'something that is no error was thrown'
  // Before it is cut: a secret that is cut is not known for one. What follows the first line may be the parameters of a query.
  return String(redact(said)).split('\n', 1)[0]?.slice(0, errorLengthMax) ?? ''
}

/** Of a run that nobody saw the end of. */
export const lostError = 'the process that ran it ended, or stood still, before it was done'

export type JobState = 'idle' | 'running' | 'stuck' | 'off'

/** What is known of a job at a moment; times in milliseconds. */
export type JobStatus = {
  readonly name: string
  readonly pattern: string | undefined
  readonly everyProcess: boolean
  readonly state: JobState
  /** Why there is nothing for it to do with these settings. */
  readonly idleBecause: string | null
  readonly holder: string | null
  readonly runningSince: number | null
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly durationMs: number | null
  readonly result: 'OK' | 'FAILED' | 'LOST' | null
  readonly error: string | null
  readonly lastRuns: readonly JobRun[] | null
  readonly succeededAt: number | null
  readonly requestedAt: number | null
  readonly nextRun: number | null
}

/** A job as it is answered. */
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
