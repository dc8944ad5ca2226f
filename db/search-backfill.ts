import { eq, sql } from 'drizzle-orm'
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

/** Progress of a search index that lacks older records. */
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
