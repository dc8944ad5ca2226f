import { and, asc, count, desc, eq, gt, gte, inArray, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../db/engine.ts'
import { insertOf } from '../../../db/prepared.ts'
import { auditLog, auditRetention } from '../../../db/schema/people.ts'
import { idPrefixes } from '../../lib/ids.ts'
import type { Slice } from '../../lib/page.ts'
import { type AuditEntry, type AuditRow, listedMax, outsideActions, sessionActions } from './domain.ts'

/** What a list is narrowed by. `since` and `until` in milliseconds, the latter excluded. */
export type AuditFilter = { [Name in 'actor' | 'action' | 'subject' | 'shopId']?: string | undefined } & {
  since?: number | undefined
  until?: number | undefined
}

const insert = insertOf(auditLog)
const named = ['subject', 'actor', 'shopId', 'action'] as const
const withinDays = ({ since, until }: AuditFilter) =>
  and(since === undefined ? undefined : gte(auditLog.at, since), until === undefined ? undefined : lt(auditLog.at, until))

/** Which rows a retention is for. */
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
  async insert(tx: Writer, row: AuditRow): Promise<void> {
    await insert(tx, row)
  },
  /** When an action was done to a subject for the nth last time, if that was after `since`. */
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
  /** How often an action was done to a subject after `since`. */
  async count(tx: Pick<Writer, 'select'>, { action, subject, since }: AuditEntry & { since: number }): Promise<number> {
    const [row] = await tx
      .select({ times: count() })
      .from(auditLog)
      .where(and(eq(auditLog.subject, subject), eq(auditLog.action, action), gt(auditLog.at, since)))
    return Number(row?.times ?? 0)
  },
  /** How many rows outsiders have caused after `since`, or one of them, by address; they are bounded by `outsideRowsPerHour`. */
  async countOutside(from: Pick<Writer, 'select'>, since: number, actor?: string): Promise<{ address: string | null; rows: number }[]> {
    const counts = await from
      .select({ address: auditLog.address, rows: count() })
      .from(auditLog)
      .where(
        and(
          inArray(auditLog.action, [...outsideActions]),
          gt(auditLog.at, since),
          actor === undefined ? undefined : eq(auditLog.actor, actor),
        ),
      )
      .groupBy(auditLog.address)
    return counts.map(({ address, rows }) => ({ address, rows: Number(rows) }))
  },
  /** Whether an action was done to a subject by this actor from this address after `since`. */
  async isKnown(
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
  /** A page of rows, newest first, and how many there are, counted up to one more than `listedMax`. */
  async list(read: Reader, filter: AuditFilter, { limit, offset }: Slice): Promise<{ rows: AuditRow[]; total: number }> {
    const where = await conditionOf(read, filter)
    const total = await countUpTo(read, where)
    if (offset >= listedMax) return { rows: [], total }
    const rows = await read.select().from(auditLog).where(where).orderBy(desc(auditLog.at), desc(auditLog.id)).limit(limit).offset(offset)
    return { rows, total }
  },
  /** So many rows, oldest first, from where another call has ended. */
  async next(read: Reader, filter: AuditFilter, after: Pick<AuditRow, 'at' | 'id'> | undefined, limit: number): Promise<AuditRow[]> {
    const beyond = after && and(gte(auditLog.at, after.at), or(gt(auditLog.at, after.at), gt(auditLog.id, after.id)))
    return read
      .select()
      .from(auditLog)
      .where(and(withinDays(filter), beyond))
      .orderBy(asc(auditLog.at), asc(auditLog.id))
      .limit(limit)
  },
  /** Removes some of the rows from before `until`, by the one way that the triggers leave. Returns how many. */
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

async function countUpTo(read: Reader, where: SQL | undefined): Promise<number> {
  const some = read
    .select({ one: sql<number>`1`.as('one') })
    .from(auditLog)
    .where(where)
    .limit(listedMax + 1)
    .as('some')
  const [row] = await read.select({ n: count() }).from(some)
  return Number(row?.n ?? 0)
}

/**
 * The condition of a filter, in which the index that narrows most is the one that is used: an engine cannot know that an action is in
 * every second row and a person in ten of a million.
 */
async function conditionOf(read: Reader, filter: AuditFilter): Promise<SQL | undefined> {
  const given = named.flatMap((name) => (filter[name] === undefined ? [] : [{ column: auditLog[name], value: filter[name] }]))
  const days = withinDays(filter)
  if (given.length < 2) return and(...given.map(({ column, value }) => eq(column, value)), days)
  const counted = []
  for (const one of given) counted.push({ ...one, rows: await countUpTo(read, and(eq(one.column, one.value), days)) })
  const [narrowest, ...others] = counted.sort((a, b) => a.rows - b.rows)
  // Of an expression there is no index.
  return and(
    narrowest && eq(narrowest.column, narrowest.value),
    ...others.map(({ column, value }) => sql`coalesce(${column}, '') = ${value}`),
    days,
  )
}
