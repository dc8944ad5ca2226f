import { eq, sql } from 'drizzle-orm'
import type { Reader, Writer } from './engine.ts'
import { searchFills } from './schema/finding.ts'

export type Fill = Pick<typeof searchFills.$inferSelect, 'below' | 'done'>

/** What of a subject is still to be put into its search index. */
export const fillsOf = (subject: typeof searchFills.$inferSelect.subject) => ({
  /** How far it has come; undefined where nothing is left. */
  async fillOf(read: Pick<Reader, 'select'>): Promise<Fill | undefined> {
    const { below, done } = searchFills
    const [row] = await read.select({ below, done }).from(searchFills).where(eq(searchFills.subject, subject)).limit(1)
    return row
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
