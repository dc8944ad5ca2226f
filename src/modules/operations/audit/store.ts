import { and, asc, count, desc, eq, gt, gte, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { insertOf } from '../../../../db/prepared.ts'
import { auditLog, auditRetention, users } from '../../../../db/schema/people.ts'
import { idPrefixes } from '../../../lib/ids.ts'
import type { Slice } from '../../../lib/page.ts'
import { type AuditEntry, type AuditRow, listedMax, lookedAtMax, outsideActions, type Sought, sessionActions } from './domain.ts'

/** What a list is narrowed by. `since` and `until` in milliseconds, the latter excluded. */
export type AuditFilter = { [Name in 'actor' | 'action' | 'subject' | 'shopId']?: string | undefined } & {
  since?: number | undefined
  until?: number | undefined
  /** What must stand somewhere in a row. */
  sought?: Sought | undefined
}
/** A part of a list: by its place, or what comes after a row. */
type Part = { limit: number; offset?: number; after?: Pick<AuditRow, 'at' | 'id'> | undefined }
/** `isCut`: it leaves out rows that are older than all that are looked at. */
type Condition = { readonly where: SQL | undefined; readonly isCut: boolean }
/**
 * How rows are found: by one condition, or by several of which one must hold, each with an index, and with those of which there is none
 * here. Any number of actions counts as one condition, where order does not matter.
 */
type Plan = Condition | { readonly ways: readonly SQL[]; readonly actions: readonly string[]; readonly rest: SQL | undefined }

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
  /** A page of rows, newest first, and how many there are, up to `listedMax`; `isCapped`: there are more, or may be. */
  async list(read: Reader, filter: AuditFilter, { limit, offset }: Slice): Promise<{ rows: AuditRow[]; total: number; isCapped: boolean }> {
    const plan = await planOf(read, filter)
    const total = await countOf(read, plan)
    const rows = offset >= Math.min(total, listedMax) ? [] : await partOf(read, plan, { limit, offset })
    return { rows, total: Math.min(total, listedMax), isCapped: total > listedMax || ('where' in plan && plan.isCut) }
  },
  /** The newest rows, up to `listedMax`, in pieces of so many. */
  async *pieces(read: Reader, filter: AuditFilter, limit: number): AsyncGenerator<AuditRow[], void> {
    const plan = await planOf(read, filter)
    let after: AuditRow | undefined
    for (let told = 0; told < listedMax; ) {
      const rows = await partOf(read, plan, { limit: Math.min(limit, listedMax - told), after })
      if (rows.length > 0) yield rows
      if (rows.length < limit) return
      told += rows.length
      after = rows.at(-1)
    }
  },
  /** Whose the e-mail address is, of those who share the login of merchants and operators. */
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

/** The actions that there are whose names begin so, each found by one look into the index: they are few, and their rows many. */
async function actionsThatBegin(read: Reader, beginning: string): Promise<string[]> {
  // Behind every letter that is in one.
  const end = `${beginning}~`
  const rows = await read.rows<{ name: string }>(sql`
    with recursive names(name) as (
      select min(${auditLog.action}) from ${auditLog} where ${auditLog.action} >= ${beginning} and ${auditLog.action} < ${end}
      union all
      select (select min(${auditLog.action}) from ${auditLog} where ${auditLog.action} > names.name and ${auditLog.action} < ${end})
      from names where names.name is not null
    )
    select name from names where name is not null`)
  return rows.map(({ name }) => name)
}

const soughtIn: readonly ('actor' | 'subject' | 'shopId' | 'requestId')[] = ['actor', 'subject', 'shopId', 'requestId']
const newestFirst = [desc(auditLog.at), desc(auditLog.id)]

/**
 * How the rows of a filter are found, so that whatever the trail holds no more than `lookedAtMax` of them are looked at in vain. Beside a filter
 * it is that one's rows that are gone through; those of what is sought where these are few and the filter's are not.
 */
async function planOf(read: Reader, { sought, ...filter }: AuditFilter): Promise<Plan> {
  const open = sought && openTo(filter, sought)
  if (!open) return narrowed(read, filter)
  const { whole, beginning } = open
  const actions = beginning === undefined ? [] : await actionsThatBegin(read, beginning)
  const found = { ways: open.columns.map((name) => eq(auditLog[name], whole)), actions }
  const days = withinDays(filter)
  const given = named.filter((name) => filter[name] !== undefined)
  if (given.length === 0) return { ...found, rest: days }
  const somewhere = open.columns.map((name) => sql`coalesce(${auditLog[name]}, '') = ${whole}`)
  const ofActions = actions.length > 0 ? [sql`coalesce(${auditLog.action}, '') in ${actions}`] : []
  const plan = await narrowed(read, filter, or(...somewhere, ...ofActions))
  if (!plan.isCut || (await countOf(read, { ...found, rest: days })) > listedMax) return plan
  return { ...found, rest: and(...given.map((name) => sql`coalesce(${auditLog[name]}, '') = ${filter[name]}`), days) }
}

/** Where what is sought may stand beside a filter: in no column that is held to something else. Undefined: in every row of the filter. */
function openTo(filter: AuditFilter, { whole, beginning }: Sought): (Sought & { readonly columns: typeof soughtIn }) | undefined {
  const isAction = beginning !== undefined && filter.action?.startsWith(beginning) === true
  if (isAction || soughtIn.some((name) => name !== 'requestId' && filter[name] === whole)) return undefined
  const columns = soughtIn.filter((name) => name === 'requestId' || filter[name] === undefined)
  return { whole, beginning: filter.action === undefined ? beginning : undefined, columns }
}

const countOf = async (read: Reader, plan: Plan): Promise<number> => {
  if ('where' in plan) return countUpTo(read, plan.where)
  const { ways, actions, rest } = plan
  const each = [...ways, ...(actions.length > 0 ? [inArray(auditLog.action, [...actions])] : [])]
  const found = each.map(
    (way) => sql`select id from (select ${auditLog.id} as id from ${auditLog} where ${and(way, rest)} limit ${listedMax + 1}) as way`,
  )
  const [row] = await read.rows<{ n: number | string }>(
    sql`select count(*) as n from (select id from (${sql.join(found, sql` union `)}) as found limit ${listedMax + 1}) as counted`,
  )
  return Number(row?.n ?? 0)
}

/** The newest rows of each way, of which the newest are taken: as many are read as there are ways to find them, however many rows there are. */
async function partOf(read: Reader, plan: Plan, { limit, offset = 0, after }: Part): Promise<AuditRow[]> {
  const beyond = after && and(lte(auditLog.at, after.at), or(lt(auditLog.at, after.at), lt(auditLog.id, after.id)))
  const rowsOf = (where: SQL | undefined) =>
    read
      .select()
      .from(auditLog)
      .where(where)
      .orderBy(...newestFirst)
  if ('where' in plan) return rowsOf(and(plan.where, beyond)).limit(limit).offset(offset)
  const ways = [...plan.ways, ...plan.actions.map((action) => eq(auditLog.action, action))]
  const found = ways.map(
    (way) => sql`select id, at from (
      select ${auditLog.id} as id, ${auditLog.at} as at from ${auditLog} where ${and(way, plan.rest, beyond)}
      order by ${auditLog.at} desc, ${auditLog.id} desc limit ${offset + limit}) as way`,
  )
  const ids = await read.rows<{ id: string }>(
    sql`select id from (${sql.join(found, sql` union `)}) as found order by at desc, id desc limit ${limit} offset ${offset}`,
  )
  return ids.length === 0
    ? []
    : rowsOf(
        inArray(
          auditLog.id,
          ids.map(({ id }) => id),
        ),
      )
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
 * every second row and a person in ten of a million. Where that one's rows are very many, and not all of them match, it is the newest of them
 * that are looked at.
 */
async function narrowed(read: Reader, filter: AuditFilter, sought?: SQL): Promise<Condition> {
  const given = named.flatMap((name) => (filter[name] === undefined ? [] : [{ column: auditLog[name], value: filter[name] }]))
  const days = withinDays(filter)
  if (given.length === 0 || (given.length === 1 && !sought))
    return { where: and(...given.map(({ column, value }) => eq(column, value)), days), isCut: false }
  const counted = []
  for (const one of given) counted.push({ ...one, rows: await countUpTo(read, and(eq(one.column, one.value), days)) })
  const [narrowest, ...others] = counted.sort((a, b) => a.rows - b.rows)
  const way = and(narrowest && eq(narrowest.column, narrowest.value), days)
  const cutAt = narrowest && narrowest.rows > listedMax ? await nthNewest(read, way, lookedAtMax) : undefined
  // Of an expression there is no index.
  const rest = others.map(({ column, value }) => sql`coalesce(${column}, '') = ${value}`)
  return { where: and(way, cutAt === undefined ? undefined : gt(auditLog.at, cutAt), ...rest, sought), isCut: cutAt !== undefined }
}

/** When the row was that so many are newer than, of those that an index finds; undefined: there are no more. */
async function nthNewest(read: Reader, way: SQL | undefined, rows: number): Promise<number | undefined> {
  const [row] = await read.select({ at: auditLog.at }).from(auditLog).where(way).orderBy(desc(auditLog.at)).limit(1).offset(rows)
  return row?.at
}
