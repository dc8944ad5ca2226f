/**
 * Finds the rows of a list by the narrowest criterion: a filter or the search term. Its rows are read by index, and the
 * other criteria are tested in each. Engines do not know how common a value is, so rows are counted first.
 * If even the narrowest criterion has very many rows, only its newest `scannedMax` are tested: the list is cut.
 */
import { and, asc, desc, eq, gt, gte, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../../db/engine.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { type AuditRow, listedMax, type SearchTerm, scannedMax } from './domain.ts'

/** The filters of a list. `since` and `until` are milliseconds; `until` is excluded. */
export type AuditFilter = { [Name in 'actor' | 'action' | 'subject' | 'shopId']?: string | undefined } & {
  since?: number | undefined
  until?: number | undefined
  /** Matches in any of the searched columns. */
  searchTerm?: SearchTerm | undefined
}

/** A page by offset, or the rows after a row. */
type PageRequest = { limit: number; offset?: number; after?: Pick<AuditRow, 'at' | 'id'> | undefined }

/** Rows of any of these conditions, each of which has an index, or with any of these actions. */
type IndexedRows = { readonly conditions: readonly (SQL | undefined)[]; readonly actions: readonly string[] }
/** `test` is the same criterion for rows found otherwise: `coalesce` keeps the engine from using its index. */
type Criterion = { readonly found: IndexedRows; readonly test: SQL | undefined }
/** `rest` is tested in each row. `isCut`: older rows are left out. */
type ListPlan = { readonly found: IndexedRows; readonly rest: SQL | undefined; readonly isCut: boolean }

const filterNames = ['subject', 'actor', 'shopId', 'action'] as const
const searchedColumns = ['actor', 'subject', 'shopId', 'requestId'] as const
const newestFirst = [desc(auditLog.at), desc(auditLog.id)]
const allRows: IndexedRows = { conditions: [undefined], actions: [] }

/** The condition of the date range. */
const withinDays = ({ since, until }: AuditFilter): SQL | undefined =>
  and(since === undefined ? undefined : gte(auditLog.at, since), until === undefined ? undefined : lt(auditLog.at, until))

export const auditListStore = {
  /** Reads a page, newest first, with the total up to `listedMax`. `isCapped`: there are, or may be, more. */
  async list(
    read: Reader,
    filter: AuditFilter,
    { limit, offset }: PageSlice,
  ): Promise<{ rows: AuditRow[]; total: number; isCapped: boolean }> {
    const plan = await planList(read, filter)
    const total = await countRows(read, plan)
    const rows = offset >= Math.min(total, listedMax) ? [] : await readRows(read, plan, { limit, offset })
    return { rows, total: Math.min(total, listedMax), isCapped: total > listedMax || plan.isCut }
  },
  /** Yields the newest rows, up to `listedMax` in all. */
  async *batches(read: Reader, filter: AuditFilter, limit: number): AsyncGenerator<AuditRow[], void> {
    const plan = await planList(read, filter)
    let after: AuditRow | undefined
    for (let yielded = 0; yielded < listedMax; ) {
      const rows = await readRows(read, plan, { limit: Math.min(limit, listedMax - yielded), after })
      if (rows.length > 0) yield rows
      if (rows.length < limit) return
      yielded += rows.length
      after = rows.at(-1)
    }
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
}

/** Plans a list. */
async function planList(read: Reader, filter: AuditFilter): Promise<ListPlan> {
  const days = withinDays(filter)
  const count = ({ found }: Criterion) => countRows(read, { found, rest: days })
  const filters = filterCriteria(filter)
  const search = await searchCriterion(read, filter)
  if (filters.length + (search ? 1 : 0) < 2) return { found: (filters[0] ?? search)?.found ?? allRows, rest: days, isCut: false }

  const counted = []
  for (const criterion of filters) counted.push({ criterion, rows: await count(criterion) })
  counted.sort((a, b) => a.rows - b.rows)
  const sorted = counted.map(({ criterion }) => criterion)
  const isFilterNarrow = counted.some(({ rows }) => rows <= listedMax)
  const isSearchNarrow = search && !isFilterNarrow && (await count(search)) <= listedMax
  const [narrowest, ...others] = !search ? sorted : isSearchNarrow ? [search, ...sorted] : [...sorted, search]
  const found = narrowest?.found ?? allRows
  const cutAt = isFilterNarrow || isSearchNarrow ? undefined : await nthNewest(read, and(...found.conditions, days), scannedMax)
  const newest = cutAt === undefined ? undefined : gt(auditLog.at, cutAt)
  return { found, rest: and(days, newest, ...others.map(({ test }) => test)), isCut: cutAt !== undefined }
}

const filterCriteria = (filter: AuditFilter): Criterion[] =>
  filterNames.flatMap((name) => {
    const [column, value] = [auditLog[name], filter[name]]
    if (value === undefined) return []
    return { found: { conditions: [eq(column, value)], actions: [] }, test: sql`coalesce(${column}, '') = ${value}` }
  })

/** Undefined if there is no search term, or if it matches every row that the filters find. */
async function searchCriterion(read: Reader, filter: AuditFilter): Promise<Criterion | undefined> {
  if (!filter.searchTerm) return undefined
  const { term, prefix } = filter.searchTerm
  const isInFilter = filter.actor === term || filter.subject === term || filter.shopId === term
  if (isInFilter || (prefix !== undefined && filter.action?.startsWith(prefix))) return undefined
  // A filtered column has another value than the term.
  const columns = searchedColumns.filter((name) => name === 'requestId' || filter[name] === undefined).map((name) => auditLog[name])
  const actions = prefix === undefined || filter.action !== undefined ? [] : await actionsWithPrefix(read, prefix)
  const tests = columns.map((column) => sql`coalesce(${column}, '') = ${term}`)
  if (actions.length > 0) tests.push(sql`coalesce(${auditLog.action}, '') in ${actions}`)
  return { found: { conditions: columns.map((column) => eq(column, term)), actions }, test: or(...tests) }
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

/** Returns the time of the row after which `rows` newer rows follow; undefined if there are fewer. */
async function nthNewest(read: Reader, condition: SQL | undefined, rows: number): Promise<number | undefined> {
  const [row] = await read.select({ at: auditLog.at }).from(auditLog).where(condition).orderBy(desc(auditLog.at)).limit(1).offset(rows)
  return row?.at
}

/** Counts the rows of a list up to one more than `listedMax`. */
async function countRows(read: Reader, { found, rest }: Omit<ListPlan, 'isCut'>): Promise<number> {
  const { conditions, actions } = found
  // Without an order, all actions are one condition.
  const each = actions.length > 0 ? [...conditions, inArray(auditLog.action, [...actions])] : conditions
  const queries = each.map(
    (condition) =>
      sql`select id from (select ${auditLog.id} as id from ${auditLog} where ${and(condition, rest) ?? sql`true`} limit ${listedMax + 1}) as way`,
  )
  const [row] = await read.rows<{ n: number | string }>(
    sql`select count(*) as n from (select id from (${sql.join(queries, sql` union `)}) as found limit ${listedMax + 1}) as counted`,
  )
  return Number(row?.n ?? 0)
}

/**
 * Reads a page: merges the newest rows of each condition, so that the cost does not depend on the size of the trail.
 */
async function readRows(read: Reader, { found, rest }: ListPlan, { limit, offset = 0, after }: PageRequest): Promise<AuditRow[]> {
  const beyond = after && and(lte(auditLog.at, after.at), or(lt(auditLog.at, after.at), lt(auditLog.id, after.id)))
  const rowsOf = (where: SQL | undefined) =>
    read
      .select()
      .from(auditLog)
      .where(where)
      .orderBy(...newestFirst)
  const [first, ...further] = [...found.conditions, ...found.actions.map((action) => eq(auditLog.action, action))]
  if (further.length === 0)
    return rowsOf(and(first, rest, beyond))
      .limit(limit)
      .offset(offset)
  const queries = [first, ...further].map(
    (condition) => sql`select id, at from (
      select ${auditLog.id} as id, ${auditLog.at} as at from ${auditLog} where ${and(condition, rest, beyond)}
      order by ${auditLog.at} desc, ${auditLog.id} desc limit ${offset + limit}) as way`,
  )
  const ids = await read.rows<{ id: string }>(
    sql`select id from (${sql.join(queries, sql` union `)}) as found order by at desc, id desc limit ${limit} offset ${offset}`,
  )
  if (ids.length === 0) return []
  const pageIds = ids.map(({ id }) => id)
  return rowsOf(inArray(auditLog.id, pageIds))
}
