import { type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import type { Reader } from '../../../../db/engine.ts'
import { inMode, type Kpi, listsOf, type RankedRow, runsOf, type SalesKpi, type SalesMode, type Span, type SpanRun } from './domain.ts'

// Reads the top of rankings without summing up all sales. An index keeps the sums of each list of days in order.
// An entry outside the top of every list has at most the sum of the lists' last top values: the bound. Entries above
// the bound, from the tops or from unfolded deltas, are ahead of all others.

type From = Pick<Reader, 'rows'>

type Ranking = {
  readonly by: SalesKpi
  /** The second figure of the ranking. */
  readonly second: SalesKpi
  /** The keys whose sums are computed, from `named`. */
  readonly added: SQL
  /** Selects `id` and `ranked` from `sums` (key, value). */
  readonly ranked: SQL
  /** The keys of a row of `best`, as `key`. */
  readonly keys: SQL
  /** The most keys of one id. */
  readonly keysOfOne: SQL
  /** Title and name of a row of `best`, and the joins for them. */
  readonly labels: SQL
  readonly labelJoins: SQL
}

const products: Ranking = {
  by: 'PRODUCT_UNITS',
  second: 'PRODUCT_CENTS',
  added: sql`select key from named`,
  ranked: sql`select key as id, sum(value) as ranked from sums group by key`,
  keys: sql`select best.id as key`,
  keysOfOne: sql`1`,
  labels: sql`p.title as title, s.name as "shopName"`,
  labelJoins: sql`join products p on p.id = best.id join shops s on s.id = p.shop_id`,
}

const merchants: Ranking = {
  by: 'MERCHANT_CENTS',
  second: 'MERCHANT_ORDERS',
  added: sql`select id as key from shops where merchant_id in (select s.merchant_id from named n join shops s on s.id = n.key)`,
  ranked: sql`select s.merchant_id as id, sum(sums.value) as ranked from sums join shops s on s.id = sums.key group by s.merchant_id`,
  keys: sql`select s.id as key from shops s where s.merchant_id = best.id`,
  keysOfOne: sql`(select max(n) from (select count(*) as n from shops group by merchant_id) of_one)`,
  labels: sql`'' as title, (select f.name from shops f where f.merchant_id = best.id order by f.id limit 1) as "shopName"`,
  labelJoins: sql``,
}

/** Deep enough that days beyond the window rarely matter if sales are uneven. */
const depthOf = (limit: number): number => 2 * limit + 20

const integerSql = (number: number): SQL => sql`cast(${number} as integer)`
/** Literal, as in the index definitions, since SQLite matches partial indexes by their text. */
const inRanked = sql.raw("kpi in ('MERCHANT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_PRODUCT_UNITS')")
const inOfKey = sql.raw(
  "d.kpi in ('MERCHANT_CENTS', 'MERCHANT_ORDERS', 'PRODUCT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_MERCHANT_ORDERS', 'TEST_PRODUCT_CENTS', 'TEST_PRODUCT_UNITS')",
)
const quoted = (kpi: Kpi): SQL => sql.raw(`'${kpi}'`)

/** SQLite without statistics would scan all keys for each one. */
const byKey = sql.raw(engine === 'sqlite' ? 'indexed by kpi_days_of_key' : '')

/** Sums up the stored figures of a key over a window: one index range per run. */
const storedTotal = (kpi: SQL, key: SQL, runs: readonly SpanRun[]): SQL =>
  sql.join(
    runs.map(
      ({ span, from, to }) => sql`(select coalesce(sum(d.value), 0) from kpi_days as d ${byKey}
        where d.kpi = ${kpi} and ${inOfKey} and d.key = ${key} and d.span = ${integerSql(span)} and d.day >= ${integerSql(from)} and d.day < ${integerSql(to)})`,
    ),
    sql` + `,
  )

type Row = { readonly id: string; readonly title: string; readonly shopName: string; ranked: number; second: number; bound: number | null }

/** Reads the top of a ranking in one statement; undefined if the bound does not prove it. */
async function headOf(read: From, ranking: Ranking, mode: SalesMode, span: Span, limit: number): Promise<Row[] | undefined> {
  // The lists of two modes have no common order.
  if (mode === 'ALL') return undefined
  const { added, ranked, keys, keysOfOne, labels, labelJoins } = ranking
  const [by, second, depth] = [quoted(inMode(ranking.by, mode)), quoted(inMode(ranking.second, mode)), depthOf(limit)]
  const lists = listsOf(span).map(
    (list) => sql`from kpi_days where kpi = ${by} and ${inRanked} and span = ${integerSql(list.span)} and day = ${integerSql(list.day)}`,
  )
  const runs = runsOf(span.from, span.to + 1)
  const heads = lists.map((list) => sql`select key from (select key ${list} order by value desc limit ${depth}) head`)
  const lasts = lists.map(
    (list) => sql`select value from (select value ${list} and value > 0 order by value desc limit 1 offset ${depth - 1}) last_of_head`,
  )
  const rows = await read.rows<Row>(sql`
    with fresh as (select kpi, key, value from kpi_deltas where kpi in (${by}, ${second}) and day >= ${span.from} and day <= ${span.to}),
    named as (${sql.join(heads, sql` union `)} union select key from fresh where kpi = ${by}),
    added as (${added}),
    sums as (
      select a.key, ${storedTotal(by, sql`a.key`, runs)} as value from added a
      union all select key, value from fresh where kpi = ${by}),
    best as (select id, ranked from (${ranked}) of_all order by ranked desc, id limit ${limit})
    select best.id as id, best.ranked as ranked, ${labels},
      (select coalesce(sum(${storedTotal(second, sql`of_one.key`, runs)}), 0) from (${keys}) of_one)
      + (select coalesce(sum(value), 0) from fresh where kpi = ${second} and key in (${keys})) as second,
      ${keysOfOne} * (select sum(value) from (${sql.join(lasts, sql` union all `)}) of_lists) as bound
    from best ${labelJoins}
    order by best.ranked desc, best.id`)
  const head = rows.map((row) => ({ ...row, ranked: Number(row.ranked), second: Number(row.second), bound: Number(row.bound ?? 0) }))
  const last = head.at(-1)
  return head.length === limit && last !== undefined && last.ranked > last.bound ? head : undefined
}

export const rankingStore = {
  /** Same result as `topMerchants` of the other store, but cheaper; undefined if unproven. */
  async headOfMerchants(read: From, mode: SalesMode, span: Span, limit: number): Promise<RankedRow[] | undefined> {
    const rows = await headOf(read, merchants, mode, span, limit)
    // Sales of days without a confirmed order do not rank.
    if (rows?.some(({ second }) => second <= 0)) return undefined
    return rows?.map(({ id, title, shopName, ranked, second }) => ({ id, title, shopName, cents: ranked, n: second }))
  },
  async headOfProducts(read: From, mode: SalesMode, span: Span, limit: number): Promise<RankedRow[] | undefined> {
    const rows = await headOf(read, products, mode, span, limit)
    return rows?.map(({ id, title, shopName, ranked, second }) => ({ id, title, shopName, cents: second, n: ranked }))
  },
}
