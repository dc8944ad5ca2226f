import { enumText, instant, int, json, table, text } from '../columns.ts'

/** A completed run. Times in milliseconds. */
export type JobRun = {
  readonly startedAt: number
  readonly endedAt: number | null
  readonly durationMs: number | null
  readonly result: 'OK' | 'FAILED' | 'LOST'
  readonly error: string | null
}

/** State of each job, and which process may run it. */
export const jobs = table('jobs', {
  name: text('name').primaryKey(),
  /** The process that runs the job. */
  holder: text('holder'),
  /**
   * Heartbeat of the holder. Another process takes over when it has not changed for long enough; clocks are not
   * compared.
   */
  beat: int('beat').notNull().default(0),
  /** Start of the running run. */
  runningSince: instant('running_since'),
  /** Result of the last run. */
  startedAt: instant('started_at'),
  endedAt: instant('ended_at'),
  durationMs: int('duration_ms'),
  result: enumText('result', ['OK', 'FAILED', 'LOST']),
  error: text('error'),
  /** The latest runs, newest first; null in rows of older versions. */
  lastRuns: json<JobRun[]>('last_runs'),
  /** End of the last successful run. */
  succeededAt: instant('succeeded_at'),
  /** When a run was requested that has not started. */
  requestedAt: instant('requested_at'),
})
