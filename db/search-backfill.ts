import { eq, sql } from 'drizzle-orm'
import type { Reader, Writer } from './engine.ts'
import { prepare } from './prepared.ts'
import { searchFills } from './schema/search-index.ts'

export type Fill = Pick<typeof searchFills.$inferSelect, 'below' | 'done'>

const ofSubject = prepare((queries) =>
  queries
    .select({ below: searchFills.below, done: searchFills.done })
    .from(searchFills)
    .where(eq(searchFills.subject, sql.placeholder('subject')))
    .limit(1),
)

/** What of a subject is still to be put into its search index. */
export const fillsOf = (subject: typeof searchFills.$inferSelect.subject) => ({
  /** How far it has come; undefined where nothing is left. */
  async fillOf(read: Pick<Reader, 'first'>): Promise<Fill | undefined> {
    return (await read.first(ofSubject, { subject })) as Fill | undefined
  },
  /** @param below undefined: nothing is left */
  async noteFill(tx: Writer, below: string | undefined, more: number): Promise<void> {
    const own = eq(searchFills.subject, subject)
    if (below === undefined) await tx.delete(searchFills).where(own)
    else
      await tx
        .update(searchFills)
        .set({ below, done: sql`${searchFills.done} + ${more}` })
        .where(own)
  },
})
