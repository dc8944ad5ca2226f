import { and, count, desc, eq, gt } from 'drizzle-orm'
import type { Writer } from '../../../db/engine.ts'
import { auditLog } from '../../../db/schema/people.ts'

export type AuditRow = typeof auditLog.$inferSelect

export const auditStore = {
  async insert(tx: Writer, row: AuditRow): Promise<void> {
    await tx.insert(auditLog).values(row)
  },
  /** When an action was done to a subject for the nth last time, if that was after `since`. */
  async nthLast(
    tx: Pick<Writer, 'select'>,
    { action, subject, since, nth }: { action: string; subject: string; since: number; nth: number },
  ): Promise<number | undefined> {
    const [row] = await tx
      .select({ at: auditLog.at })
      .from(auditLog)
      .where(and(eq(auditLog.subject, subject), eq(auditLog.action, action), gt(auditLog.at, since)))
      .orderBy(desc(auditLog.at))
      .limit(1)
      .offset(nth - 1)
    return row?.at
  },
  /** How often an action was done to a subject after `since`. */
  async count(tx: Pick<Writer, 'select'>, { action, subject, since }: { action: string; subject: string; since: number }): Promise<number> {
    const [row] = await tx
      .select({ times: count() })
      .from(auditLog)
      .where(and(eq(auditLog.subject, subject), eq(auditLog.action, action), gt(auditLog.at, since)))
    return Number(row?.times ?? 0)
  },
}
