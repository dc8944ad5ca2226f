import { eq, type SQL, sql } from 'drizzle-orm'
import { engine } from './columns.ts'
import type { Reader, Writer } from './engine.ts'
import { prepare } from './prepared.ts'
import { searchFills } from './schema/search-index.ts'

type BackfillProgress = Pick<typeof searchFills.$inferSelect, 'below' | 'done'>

const ofSubject = prepare((queries) =>
  queries
    .select({ below: searchFills.below, done: searchFills.done })
    .from(searchFills)
    .where(eq(searchFills.subject, sql.placeholder('subject')))
    .limit(1),
)

/** Reads and stores the progress of a search index that lacks older records. */
export const backfillProgressOf = (subject: typeof searchFills.$inferSelect.subject) => ({
  /** Returns the progress; undefined if the index is complete. */
  async readProgress(read: Pick<Reader, 'first'>): Promise<BackfillProgress | undefined> {
    return (await read.first(ofSubject, { subject })) as BackfillProgress | undefined
  },
  /** @param below undefined: the index is complete */
  async saveProgress(tx: Writer, below: string | undefined, more: number): Promise<void> {
    const ofThisIndex = eq(searchFills.subject, subject)
    if (below === undefined) await tx.delete(searchFills).where(ofThisIndex)
    else
      await tx
        .update(searchFills)
        .set({ below, done: sql`${searchFills.done} + ${more}` })
        .where(ofThisIndex)
  },
})

/**
 * Creates the backfill of a search index: its stored progress, and the records that it lacks.
 * @param table of the records, with an alias: `orders o`
 * @param indexed the index row of the record with that alias
 */
export const searchBackfillOf = (subject: typeof searchFills.$inferSelect.subject, table: string, indexed: SQL) => ({
  ...backfillProgressOf(subject),
  /**
   * Returns the ids after `after` that are not indexed. Always empty on SQLite, where no older version runs beside this
   * one.
   */
  async unindexedAfter(read: Pick<Reader, 'rows'>, after: string, limit: number): Promise<string[]> {
    if (engine === 'sqlite') return []
    const rows = await read.rows<{ id: string }>(
      sql`select id from ${sql.raw(table)} where id > ${after} and not exists (${indexed}) order by id limit ${limit}`,
    )
    return rows.map(({ id }) => id)
  },
  /** Returns the newest ids below `below`. */
  async idsBelow(read: Pick<Reader, 'rows'>, below: string, limit: number): Promise<string[]> {
    const rows = await read.rows<{ id: string }>(sql`select id from ${sql.raw(table)} where id < ${below} order by id desc limit ${limit}`)
    return rows.map(({ id }) => id)
  },
})
