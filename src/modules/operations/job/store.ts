import { and, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { jobs } from '../../../../db/schema/jobs.ts'
import type { JobName } from '../../../core/job-table.ts'

export type JobRow = typeof jobs.$inferSelect
/** What a process tells of a job. */
export type Told = Pick<JobRow, 'runningSince' | 'startedAt' | 'endedAt' | 'durationMs' | 'result' | 'error' | 'lastRuns' | 'succeededAt'>

const blank = {
  holder: null,
  runningSince: null,
  startedAt: null,
  endedAt: null,
  durationMs: null,
  result: null,
  error: null,
  lastRuns: null,
}

export const createJobStore = ({ read }: Pick<Database, 'read'>) => ({
  all: (): Promise<JobRow[]> => read.select().from(jobs),
  /** The jobs that have a row, of those that are named. */
  async find(from: Pick<Reader | Writer, 'select'>, name: JobName): Promise<JobRow | undefined> {
    return (await from.select().from(jobs).where(eq(jobs.name, name)).limit(1))[0]
  },
  /** Makes the rows that there are not yet. */
  async add(tx: Writer, names: readonly JobName[]): Promise<void> {
    const rows = names.map((name) => ({ name, beat: 0, ...blank, succeededAt: null, requestedAt: null }))
    await tx.insert(jobs).values(rows).onConflictDoNothing()
  },
  /** Takes over the jobs that are still as they were seen, in one statement. @returns which */
  async claim(tx: Writer, holder: string, seen: readonly Pick<JobRow, 'name' | 'holder' | 'beat'>[]): Promise<string[]> {
    const asSeen = seen.map((row) =>
      and(eq(jobs.name, row.name), eq(jobs.beat, row.beat), row.holder === null ? isNull(jobs.holder) : eq(jobs.holder, row.holder)),
    )
    return names(tx, or(...asSeen), { holder, beat: sql`${jobs.beat} + 1` })
  },
  /** Says that the holder of jobs lives. @returns which of them it still holds */
  renew: (tx: Writer, holder: string, held: readonly JobName[]): Promise<string[]> =>
    names(tx, and(eq(jobs.holder, holder), inArray(jobs.name, [...held])), { beat: sql`${jobs.beat} + 1` }),
  /** Gives jobs back. */
  release: (tx: Writer, holder: string, held: readonly JobName[]): Promise<string[]> =>
    names(tx, and(eq(jobs.holder, holder), inArray(jobs.name, [...held])), { holder: null, beat: sql`${jobs.beat} + 1` }),
  /** Keeps what is known of a job. @param holder who must hold it for that; undefined: nobody does */
  async tell(tx: Writer, name: JobName, told: Told, holder: string | undefined): Promise<void> {
    await tx
      .update(jobs)
      .set(told)
      .where(and(eq(jobs.name, name), holder === undefined ? undefined : eq(jobs.holder, holder)))
  },
  async request(tx: Writer, name: JobName, at: number): Promise<void> {
    await tx.update(jobs).set({ requestedAt: at }).where(eq(jobs.name, name))
  },
  /** Takes a request up, which one process can: its run has begun. */
  async take(tx: Writer, name: JobName, runningSince: number): Promise<boolean> {
    return (await names(tx, and(eq(jobs.name, name), isNotNull(jobs.requestedAt)), { requestedAt: null, runningSince })).length > 0
  },
})
export type JobStore = ReturnType<typeof createJobStore>

type Changes = Parameters<ReturnType<Writer['update']>['set']>[0]

/** Changes rows, and says of which jobs they are. */
async function names(tx: Writer, where: SQL | undefined, changes: Changes): Promise<string[]> {
  const rows = await tx.update(jobs).set(changes).where(where).returning({ name: jobs.name })
  return rows.map(({ name }) => name)
}
