import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database, Writer } from '../../../../db/engine.ts'
import { insertOf, rowsOf, updateOf } from '../../../../db/prepared.ts'
import { paymentMessages } from '../../../../db/schema/payments.ts'
import { type Due, dueOf } from '../../../core/partitioned-queue.ts'

export type InboxMessage = typeof paymentMessages.$inferSelect

const byId = rowsOf(paymentMessages, ['id'])
const insert = insertOf(paymentMessages, 'skip')
/** As it was read: whoever comes second finds another time. */
const asRead: SQL | undefined = and(
  eq(paymentMessages.id, sql.placeholder('which')),
  eq(paymentMessages.resumeAt, sql.placeholder('wasToResumeAt')),
)
const update = updateOf(paymentMessages, asRead, ['id'])

export const createInboxStore = ({ read }: Pick<Database, 'read'>) => ({
  /** False when that message is there already. */
  async insert(tx: Writer, message: InboxMessage): Promise<boolean> {
    return insert(tx, message)
  },
  async find(id: string): Promise<InboxMessage | undefined> {
    return read.first(byId, { id })
  },
  /** What is to be worked by `now`: the longest waiting of each processor. */
  async due(now: number, limit: number): Promise<Due[]> {
    return dueOf(read, sql`payment_messages where resume_at is not null and resume_at <= ${now}`, 'resume_at', limit)
  },
  /**
   * Notes when a message is worked next, and how often it was, unless somebody else has worked on it since it was read.
   * @returns whether that was noted
   */
  async change(
    tx: Writer,
    { id, resumeAt }: Pick<InboxMessage, 'id' | 'resumeAt'>,
    change: Pick<InboxMessage, 'resumeAt'> & Partial<Pick<InboxMessage, 'attempts'>>,
  ): Promise<boolean> {
    return (await update(tx, change, { which: id, wasToResumeAt: resumeAt })).length > 0
  },
  /** Removes some that came before a moment; how many it was. */
  async removeOld(tx: Writer, before: number, limit: number): Promise<number> {
    const rows = await tx.rows(
      sql`delete from payment_messages where id in
          (select id from payment_messages where received_at < ${before} order by received_at limit ${limit}) returning 1 as done`,
    )
    return rows.length
  },
})
