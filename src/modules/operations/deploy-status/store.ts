import { and, desc, eq, gte, isNull, lt, ne, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { errorEvents, operationsAnswers, processStarts } from '../../../../db/schema/platform.ts'
import type { ErrorNote } from '../../../core/error-notes.ts'
import type { StatusKind } from './domain.ts'

type StartRow = typeof processStarts.$inferSelect
type AnswerRow = typeof operationsAnswers.$inferSelect

/** The number of stored starts. */
const startsMax = 200
/** The largest expected difference between the clocks of processes. */
const clocksDifferMs = 60_000
/** Rows per statement. */
const notesBatch = 100

export const platformStore = {
  async startsSeenSince(read: Reader, since: number): Promise<StartRow[]> {
    return read.select().from(processStarts).where(gte(processStarts.seenAt, since)).orderBy(desc(processStarts.startedAt)).limit(startsMax)
  },
  async latest(read: Pick<Reader, 'select'>): Promise<StartRow | undefined> {
    const [row] = await read.select().from(processStarts).orderBy(desc(processStarts.startedAt), desc(processStarts.id)).limit(1)
    return row
  },
  async insertStart(tx: Writer, row: StartRow): Promise<void> {
    await tx.insert(processStarts).values(row)
    const oldest = sql`(select started_at from process_starts order by started_at desc limit 1 offset ${startsMax})`
    await tx.delete(processStarts).where(lt(processStarts.startedAt, oldest))
  },
  /** An embedded database has one process, so all other starts have ended. */
  async endOthers(tx: Writer, id: string): Promise<void> {
    await tx
      .update(processStarts)
      .set({ stoppedAt: sql`${processStarts.seenAt}` })
      .where(and(isNull(processStarts.stoppedAt), ne(processStarts.id, id)))
  },
  /** @returns false if the process has no row */
  async recordHeartbeat(tx: Writer, id: string, at: number, stoppedAt: number | null): Promise<boolean> {
    const { id: idColumn } = processStarts
    return (await tx.update(processStarts).set({ seenAt: at, stoppedAt }).where(eq(idColumn, id)).returning({ id: idColumn })).length > 0
  },

  /** Adds to stored counts and removes hours before `forgetBefore`. */
  async addErrors(tx: Writer, notes: readonly ErrorNote[], forgetBefore: number): Promise<void> {
    await tx.delete(errorEvents).where(lt(errorEvents.hour, forgetBefore))
    // A fixed order, so that concurrent writes do not deadlock.
    const rows = notes.toSorted((a, b) => a.hour - b.hour || (a.fingerprint < b.fingerprint ? -1 : 1))
    for (let at = 0; at < rows.length; at += notesBatch)
      await tx
        .insert(errorEvents)
        .values(rows.slice(at, at + notesBatch))
        .onConflictDoUpdate({
          target: [errorEvents.hour, errorEvents.fingerprint],
          set: {
            count: sql`${errorEvents.count} + excluded.count`,
            lastSeen: sql`case when excluded.last_seen > ${errorEvents.lastSeen} then excluded.last_seen else ${errorEvents.lastSeen} end`,
          },
        })
  },
  async errorsSince(read: Reader, hour: number): Promise<ErrorNote[]> {
    return read.select().from(errorEvents).where(gte(errorEvents.hour, hour))
  },

  async answer(read: Reader, kind: StatusKind, source: string): Promise<Pick<AnswerRow, 'asOf' | 'body'> | undefined> {
    const { asOf, body } = operationsAnswers
    const [row] = await read
      .select({ asOf, body })
      .from(operationsAnswers)
      .where(and(eq(operationsAnswers.kind, kind), eq(operationsAnswers.source, source)))
      .limit(1)
    return row
  },
  /**
   * Stores an answer unless a later one exists. A time too far ahead comes from a clock that stepped back and is
   * replaced.
   */
  async storeAnswer(tx: Writer, row: AnswerRow): Promise<void> {
    await tx
      .insert(operationsAnswers)
      .values(row)
      .onConflictDoUpdate({
        target: operationsAnswers.kind,
        set: { source: row.source, asOf: row.asOf, body: row.body },
        setWhere: sql`${operationsAnswers.asOf} < ${row.asOf} or ${operationsAnswers.asOf} > ${row.asOf + clocksDifferMs} or ${operationsAnswers.source} <> ${row.source}`,
      })
  },
}
