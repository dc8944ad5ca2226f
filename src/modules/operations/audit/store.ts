import { and, asc, count, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { insertOf } from '../../../../db/prepared.ts'
import { auditLog, auditRetention, users } from '../../../../db/schema/people.ts'
import { idPrefixes } from '../../../lib/ids.ts'
import { type AuditEntry, type AuditRow, anonymousActionNames, sessionActions } from './domain.ts'

/** The rows that a retention applies to. */
export type WhichRows = 'all' | 'customersSessions'

const customers = idPrefixes.customer
const before = (until: number, which: WhichRows) =>
  and(
    lt(auditLog.at, until),
    which === 'all'
      ? undefined
      : and(
          inArray(auditLog.action, [...sessionActions]),
          sql`substr(${auditLog.subject}, 1, ${customers.length + 1}) = ${`${customers}_`}`,
        ),
  )

export const auditStore = {
  insert: insertOf(auditLog),
  /** Returns when the action was done to the subject for the nth last time, if after `since` (milliseconds). */
  async nthLast(
    tx: Pick<Writer, 'select'>,
    { action, subject, since, nth }: AuditEntry & { since: number; nth: number },
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
  /** Counts the action on the subject after `since` (milliseconds). */
  async count(tx: Pick<Writer, 'select'>, { action, subject, since }: AuditEntry & { since: number }): Promise<number> {
    const [row] = await tx
      .select({ times: count() })
      .from(auditLog)
      .where(and(eq(auditLog.subject, subject), eq(auditLog.action, action), gt(auditLog.at, since)))
    return Number(row?.times ?? 0)
  },
  /** Counts rows of anonymous actions after `since` by address; limited by `anonymousRowsPerHour`. */
  async countAnonymous(from: Pick<Writer, 'select'>, since: number, actor?: string): Promise<{ address: string | null; rows: number }[]> {
    const counts = await from
      .select({ address: auditLog.address, rows: count() })
      .from(auditLog)
      .where(
        and(
          inArray(auditLog.action, [...anonymousActionNames]),
          gt(auditLog.at, since),
          actor === undefined ? undefined : eq(auditLog.actor, actor),
        ),
      )
      .groupBy(auditLog.address)
    return counts.map(({ address, rows }) => ({ address, rows: Number(rows) }))
  },
  /** Returns whether the same actor did the action to the subject from this address after `since`. */
  async hasRecent(
    from: Pick<Writer, 'select'>,
    { actor, action, subject, address }: Pick<AuditRow, 'actor' | 'action' | 'subject' | 'address'>,
    since: number,
  ): Promise<boolean> {
    const same = and(eq(auditLog.action, action), eq(auditLog.actor, actor), sql`coalesce(${auditLog.address}, '') = ${address ?? ''}`)
    const rows = await from
      .select({ id: auditLog.id })
      .from(auditLog)
      .where(and(eq(auditLog.subject, subject), gt(auditLog.at, since), same))
      .limit(1)
    return rows.length > 0
  },
  /** Returns the account id of a merchant, a member of staff or an operator. */
  async accountOf(read: Reader, email: string): Promise<string | undefined> {
    const [row] = await read.select({ id: users.id }).from(users).where(eq(users.email, email)).limit(1)
    return row?.id
  },
  accounts(read: Reader, ids: readonly string[]): Promise<Pick<typeof users.$inferSelect, 'id' | 'email' | 'role'>[]> {
    const { id, email, role } = users
    return read
      .select({ id, email, role })
      .from(users)
      .where(inArray(id, [...ids]))
  },
  /** Removes rows before `until`. Only a row in `audit_retention` lets the triggers allow it. Returns how many. */
  async removeBefore(tx: Writer, { until, which, limit }: { until: number; which: WhichRows; limit: number }): Promise<number> {
    await tx.insert(auditRetention).values({ id: 'audit', until })
    const old = tx.select({ id: auditLog.id }).from(auditLog).where(before(until, which)).orderBy(asc(auditLog.at)).limit(limit)
    const removed = await tx.delete(auditLog).where(inArray(auditLog.id, old)).returning({ id: auditLog.id })
    await tx.delete(auditRetention)
    return removed.length
  },
  async anyBefore(read: Reader, until: number, which: WhichRows): Promise<boolean> {
    const rows = await read.select({ id: auditLog.id }).from(auditLog).where(before(until, which)).limit(1)
    return rows.length > 0
  },
}
