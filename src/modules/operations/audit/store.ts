import { and, asc, count, desc, eq, gt, gte, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { insertOf } from '../../../../db/prepared.ts'
import { auditLog, auditRetention, users } from '../../../../db/schema/people.ts'
import { idPrefixes } from '../../../lib/ids.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { type AuditEntry, type AuditRow, anonymousActionNames, listedMax, type SearchTerm, scannedMax, sessionActions } from './domain.ts'

/** The filters of a list. `since` and `until` are milliseconds; `until` is excluded. */
export type AuditFilter = { [Name in 'actor' | 'action' | 'subject' | 'shopId']?: string | undefined } & {
  since?: number | undefined
  until?: number | undefined
  /** Matches in any of the searched columns. */
  searchTerm?: SearchTerm | undefined
}
/** A page by offset, or the rows after a row. */
type PageRequest = { limit: number; offset?: number; after?: Pick<AuditRow, 'at' | 'id'> | undefined }
/** `isCut`: rows older than the scanned ones are left out. */
type Condition = { readonly where: SQL | undefined; readonly isCut: boolean }
/**
 * How rows are found: by one condition, or by a union of conditions that each use an index. `rest` holds further
 * conditions.
 * All actions count as one condition where the order does not matter.
 */
type QueryPlan = Condition | { readonly conditions: readonly SQL[]; readonly actions: readonly string[]; readonly rest: SQL | undefined }

const filterNames = ['subject', 'actor', 'shopId', 'action'] as const
const withinDays = ({ since, until }: AuditFilter) =>
  and(since === undefined ? undefined : gte(auditLog.at, since), until === undefined ? undefined : lt(auditLog.at, until))

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
  /** Returns when the action was done for the nth last time, if after `since`. */
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
  /** Counts the action after `since`. */
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
  /** Reads a page, newest first, with the total up to `listedMax`. `isCapped`: there are, or may be, more. */
  async list(
    read: Reader,
    filter: AuditFilter,
    { limit, offset }: PageSlice,
  ): Promise<{ rows: AuditRow[]; total: number; isCapped: boolean }> {
    const plan = await planQuery(read, filter)
    const total = await countRows(read, plan)
    const rows = offset >= Math.min(total, listedMax) ? [] : await readRows(read, plan, { limit, offset })
    return { rows, total: Math.min(total, listedMax), isCapped: total > listedMax || ('where' in plan && plan.isCut) }
  },
  /** Yields the newest rows, up to `listedMax` in all. */
  async *batches(read: Reader, filter: AuditFilter, limit: number): AsyncGenerator<AuditRow[], void> {
    const plan = await planQuery(read, filter)
    let after: AuditRow | undefined
    for (let yielded = 0; yielded < listedMax; ) {
      const rows = await readRows(read, plan, { limit: Math.min(limit, listedMax - yielded), after })
      if (rows.length > 0) yield rows
      if (rows.length < limit) return
      yielded += rows.length
      after = rows.at(-1)
    }
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
  /** Reads rows after a row, oldest first. */
  async next(read: Reader, filter: AuditFilter, after: Pick<AuditRow, 'at' | 'id'> | undefined, limit: number): Promise<AuditRow[]> {
    const beyond = after && and(gte(auditLog.at, after.at), or(gt(auditLog.at, after.at), gt(auditLog.id, after.id)))
    return read
      .select()
      .from(auditLog)
      .where(and(withinDays(filter), beyond))
      .orderBy(asc(auditLog.at), asc(auditLog.id))
      .limit(limit)
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

/** Returns the existing actions with a prefix, one index lookup each. */
async function actionsWithPrefix(read: Reader, prefix: string): Promise<string[]> {
  // `~` sorts after every letter of an action.
  const end = `${prefix}~`
  const rows = await read.rows<{ name: string }>(sql`
    with recursive names(name) as (
      select min(${auditLog.action}) from ${auditLog} where ${auditLog.action} >= ${prefix} and ${auditLog.action} < ${end}
      union all
      select (select min(${auditLog.action}) from ${auditLog} where ${auditLog.action} > names.name and ${auditLog.action} < ${end})
      from names where names.name is not null
    )
    select name from names where name is not null`)
  return rows.map(({ name }) => name)
}

const searchedColumns: readonly ('actor' | 'subject' | 'shopId' | 'requestId')[] = ['actor', 'subject', 'shopId', 'requestId']
const newestFirst = [desc(auditLog.at), desc(auditLog.id)]

/**
 * Plans a query so that at most `scannedMax` rows are read in vain. With filters, the rows of the narrowest filter are
 * scanned, or those of the search term if they are fewer.
 */
async function planQuery(read: Reader, { searchTerm, ...filter }: AuditFilter): Promise<QueryPlan> {
  const search = searchTerm && searchableColumns(filter, searchTerm)
  if (!search) return narrowestCondition(read, filter)
  const { term, prefix } = search
  const actions = prefix === undefined ? [] : await actionsWithPrefix(read, prefix)
  const branches = { conditions: search.columns.map((name) => eq(auditLog[name], term)), actions }
  const days = withinDays(filter)
  const filters = filterNames.filter((name) => filter[name] !== undefined)
  if (filters.length === 0) return { ...branches, rest: days }
  const somewhere = search.columns.map((name) => sql`coalesce(${auditLog[name]}, '') = ${term}`)
  const ofActions = actions.length > 0 ? [sql`coalesce(${auditLog.action}, '') in ${actions}`] : []
  const plan = await narrowestCondition(read, filter, or(...somewhere, ...ofActions))
  if (!plan.isCut || (await countRows(read, { ...branches, rest: days })) > listedMax) return plan
  return { ...branches, rest: and(...filters.map((name) => sql`coalesce(${auditLog[name]}, '') = ${filter[name]}`), days) }
}

/** Returns the columns in which the term may match, given the filters. Undefined: every filtered row matches. */
function searchableColumns(
  filter: AuditFilter,
  { term, prefix }: SearchTerm,
): (SearchTerm & { readonly columns: typeof searchedColumns }) | undefined {
  const isAction = prefix !== undefined && filter.action?.startsWith(prefix) === true
  if (isAction || searchedColumns.some((name) => name !== 'requestId' && filter[name] === term)) return undefined
  const columns = searchedColumns.filter((name) => name === 'requestId' || filter[name] === undefined)
  return { term, prefix: filter.action === undefined ? prefix : undefined, columns }
}

const countRows = async (read: Reader, plan: QueryPlan): Promise<number> => {
  if ('where' in plan) return countUpTo(read, plan.where)
  const { conditions, actions, rest } = plan
  const each = [...conditions, ...(actions.length > 0 ? [inArray(auditLog.action, [...actions])] : [])]
  const queries = each.map(
    (condition) =>
      sql`select id from (select ${auditLog.id} as id from ${auditLog} where ${and(condition, rest)} limit ${listedMax + 1}) as way`,
  )
  const [row] = await read.rows<{ n: number | string }>(
    sql`select count(*) as n from (select id from (${sql.join(queries, sql` union `)}) as found limit ${listedMax + 1}) as counted`,
  )
  return Number(row?.n ?? 0)
}

/**
 * Reads the newest rows of each branch and merges them. The number of rows read does not depend on the size of the
 * trail.
 */
async function readRows(read: Reader, plan: QueryPlan, { limit, offset = 0, after }: PageRequest): Promise<AuditRow[]> {
  const beyond = after && and(lte(auditLog.at, after.at), or(lt(auditLog.at, after.at), lt(auditLog.id, after.id)))
  const rowsOf = (where: SQL | undefined) =>
    read
      .select()
      .from(auditLog)
      .where(where)
      .orderBy(...newestFirst)
  if ('where' in plan) return rowsOf(and(plan.where, beyond)).limit(limit).offset(offset)
  const conditions = [...plan.conditions, ...plan.actions.map((action) => eq(auditLog.action, action))]
  const queries = conditions.map(
    (condition) => sql`select id, at from (
      select ${auditLog.id} as id, ${auditLog.at} as at from ${auditLog} where ${and(condition, plan.rest, beyond)}
      order by ${auditLog.at} desc, ${auditLog.id} desc limit ${offset + limit}) as way`,
  )
  const ids = await read.rows<{ id: string }>(
    sql`select id from (${sql.join(queries, sql` union `)}) as found order by at desc, id desc limit ${limit} offset ${offset}`,
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
 * Builds a condition that uses only the index of the most selective filter, since engines do not know how common a
 * value is. If that filter has very many rows, only the newest are scanned.
 */
async function narrowestCondition(read: Reader, filter: AuditFilter, searchTerm?: SQL): Promise<Condition> {
  const filters = filterNames.flatMap((name) => (filter[name] === undefined ? [] : [{ column: auditLog[name], value: filter[name] }]))
  const days = withinDays(filter)
  if (filters.length === 0 || (filters.length === 1 && !searchTerm))
    return { where: and(...filters.map(({ column, value }) => eq(column, value)), days), isCut: false }
  const countedFilters = []
  for (const filter of filters) countedFilters.push({ ...filter, rows: await countUpTo(read, and(eq(filter.column, filter.value), days)) })
  const [narrowest, ...otherFilters] = countedFilters.sort((a, b) => a.rows - b.rows)
  const condition = and(narrowest && eq(narrowest.column, narrowest.value), days)
  const cutAt = narrowest && narrowest.rows > listedMax ? await nthNewest(read, condition, scannedMax) : undefined
  // `coalesce` keeps the engine from using this column's index.
  const remaining = otherFilters.map(({ column, value }) => sql`coalesce(${column}, '') = ${value}`)
  return {
    where: and(condition, cutAt === undefined ? undefined : gt(auditLog.at, cutAt), ...remaining, searchTerm),
    isCut: cutAt !== undefined,
  }
}

/** Returns the time of the row after which `rows` newer rows follow; undefined if there are fewer. */
async function nthNewest(read: Reader, condition: SQL | undefined, rows: number): Promise<number | undefined> {
  const [row] = await read.select({ at: auditLog.at }).from(auditLog).where(condition).orderBy(desc(auditLog.at)).limit(1).offset(rows)
  return row?.at
}
