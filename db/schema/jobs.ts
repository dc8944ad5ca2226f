import { instant, int, json, table, text, word } from '../columns.ts'

/** A run that ended. Times in milliseconds. */
export type JobRun = {
  readonly startedAt: number
  readonly endedAt: number | null
  readonly durationMs: number | null
  readonly result: 'OK' | 'FAILED' | 'LOST'
  readonly error: string | null
}

/** What is known of each job, whichever process ran it, and which process may run it now. */
export const jobs = table('jobs', {
  name: text('name').primaryKey(),
  /** The process that runs it; of several on one database. */
  holder: text('holder'),
  /** Goes up while the holder lives: whoever has seen it stand still for long enough may take the job over. No clock is compared. */
  beat: int('beat').notNull().default(0),
  /** Of the run that was under way when this was written. */
  runningSince: instant('running_since'),
  /** Of the last run that ended. */
  startedAt: instant('started_at'),
  endedAt: instant('ended_at'),
  durationMs: int('duration_ms'),
  result: word('result', ['OK', 'FAILED', 'LOST']),
  error: text('error'),
  /** The runs that ended, the last one first, and no more than a few; null of a row of an older version. */
  lastRuns: json<JobRun[]>('last_runs'),
  /** When a run last ended well. */
  succeededAt: instant('succeeded_at'),
  /** Somebody asked for a run, which has not begun. */
  requestedAt: instant('requested_at'),
})
