import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { insertNewOf, rowsOf, updateOf } from '../../../../db/prepared.ts'
import { paymentMessages } from '../../../../db/schema/payments.ts'
import { type DueItem, selectDue } from '../../../core/partitioned-queue.ts'

export type InboxMessage = typeof paymentMessages.$inferSelect

const byId = rowsOf(paymentMessages, ['id'])
/** Matches the message as it was read: the second of two writers finds another time. */
const asRead: SQL | undefined = and(
  eq(paymentMessages.id, sql.placeholder('which')),
  eq(paymentMessages.resumeAt, sql.placeholder('wasToResumeAt')),
)
const update = updateOf(paymentMessages, asRead, ['id'])

export const createInboxStore = ({ read }: Pick<Database, 'read'>) => ({
  /** Returns false if the message is stored already. */
  insert: insertNewOf(paymentMessages),
  find: async (id: string): Promise<InboxMessage | undefined> => read.first(byId, { id }),
  /** Messages due by `now`, longest waiting first for each processor. */
  async due(now: number, limit: number): Promise<DueItem[]> {
    return selectDue(read, sql`payment_messages where resume_at is not null and resume_at <= ${now}`, 'resume_at', limit)
  },
  /**
   * Sets a message's next attempt, unless another run changed it since it was read.
   * @returns whether it was set
   */
  async change(
    tx: Writer,
    { id, resumeAt }: Pick<InboxMessage, 'id' | 'resumeAt'>,
    change: Pick<InboxMessage, 'resumeAt'> & Partial<Pick<InboxMessage, 'attempts'>>,
  ): Promise<boolean> {
    return (await update(tx, change, { which: id, wasToResumeAt: resumeAt })).length > 0
  },
  /** Removes messages older than a moment. Returns their number. */
  async removeOld(tx: Writer, before: number, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from payment_messages where id in
          (select id from payment_messages where received_at < ${before} order by received_at limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
})
