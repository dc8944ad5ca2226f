import { and, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { jobs } from '../../../../db/schema/jobs.ts'
import type { JobName } from '../../../lib/job-table.ts'
import { type JobProgress, type JobRow, noProgress } from './domain.ts'

export const createJobStore = ({ read }: Pick<Database, 'read'>) => ({
  all: (): Promise<JobRow[]> => read.select().from(jobs),
  async find(from: Pick<Reader | Writer, 'select'>, name: JobName): Promise<JobRow | undefined> {
    return (await from.select().from(jobs).where(eq(jobs.name, name)).limit(1))[0]
  },
  /** Creates missing rows. */
  async add(tx: Writer, names: readonly JobName[]): Promise<void> {
    const rows = names.map((name) => ({ name, beat: 0, holder: null, ...noProgress, requestedAt: null }))
    await tx.insert(jobs).values(rows).onConflictDoNothing()
  },
  /**
   * Takes over jobs whose rows are unchanged, in one statement.
   * @returns their names
   */
  async claim(tx: Writer, holder: string, rows: readonly Pick<JobRow, 'name' | 'holder' | 'beat'>[]): Promise<string[]> {
    const unchanged = rows.map((row) =>
      and(eq(jobs.name, row.name), eq(jobs.beat, row.beat), row.holder === null ? isNull(jobs.holder) : eq(jobs.holder, row.holder)),
    )
    return updateJobs(tx, or(...unchanged), { holder, beat: sql`${jobs.beat} + 1` })
  },
  /**
   * Raises the heartbeat of held jobs.
   * @returns the names of those that are still held
   */
  renew: (tx: Writer, holder: string, jobNames: readonly JobName[]): Promise<string[]> =>
    updateJobs(tx, and(eq(jobs.holder, holder), inArray(jobs.name, [...jobNames])), { beat: sql`${jobs.beat} + 1` }),
  /** Releases jobs. */
  release: (tx: Writer, holder: string, jobNames: readonly JobName[]): Promise<string[]> =>
    updateJobs(tx, and(eq(jobs.holder, holder), inArray(jobs.name, [...jobNames])), { holder: null, beat: sql`${jobs.beat} + 1` }),
  /**
   * Stores the progress of a job.
   * @param holder must hold the job; undefined skips the check
   */
  async saveProgress(tx: Writer, name: JobName, progress: JobProgress, holder: string | undefined): Promise<void> {
    await tx
      .update(jobs)
      .set(progress)
      .where(and(eq(jobs.name, name), holder === undefined ? undefined : eq(jobs.holder, holder)))
  },
  async request(tx: Writer, name: JobName, at: number): Promise<void> {
    await tx.update(jobs).set({ requestedAt: at }).where(eq(jobs.name, name))
  },
  /** Removes a request and marks the job as running. Only one process succeeds. */
  async takeRequest(tx: Writer, name: JobName, runningSince: number): Promise<boolean> {
    return (await updateJobs(tx, and(eq(jobs.name, name), isNotNull(jobs.requestedAt)), { requestedAt: null, runningSince })).length > 0
  },
})
export type JobStore = ReturnType<typeof createJobStore>

type Changes = Parameters<ReturnType<Writer['update']>['set']>[0]

/** Updates rows and returns the names of their jobs. */
async function updateJobs(tx: Writer, where: SQL | undefined, changes: Changes): Promise<string[]> {
  const rows = await tx.update(jobs).set(changes).where(where).returning({ name: jobs.name })
  return rows.map(({ name }) => name)
}
