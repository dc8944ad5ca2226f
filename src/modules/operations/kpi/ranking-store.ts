import { type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import type { Reader } from '../../../../db/engine.ts'
import { inMode, type Kpi, listsOf, type RankedRow, type Run, runsOf, type SalesKpi, type SalesMode, type Span } from './domain.ts'

// The heads of rankings, without adding up all that was ever sold. An index keeps the sums of each run of days in order. Whatever stands in the
// head of no list that touches the window has in each at most what the last of its head has: these together are the bound. Whoever has more
// than that, of those who stand in a head or sold something since the last fold, is ahead of all others.

type From = Pick<Reader, 'rows'>

type Ranking = {
  readonly by: SalesKpi
  /** The figure that is told beside it. */
  readonly beside: SalesKpi
  /** Whose sums are added up, of those that were `named`. */
  readonly added: SQL
  /** `sums` (key, value) as `id` and what it is `ranked` by. */
  readonly ranked: SQL
  /** The keys of a row of `best`, as `key`. */
  readonly keys: SQL
  /** How many keys somebody may have. */
  readonly keysOfOne: SQL
  /** Title and name of a row of `best`, and what it is joined with for them. */
  readonly told: SQL
  readonly joined: SQL
}

const products: Ranking = {
  by: 'PRODUCT_UNITS',
  beside: 'PRODUCT_CENTS',
  added: sql`select key from named`,
  ranked: sql`select key as id, sum(value) as ranked from sums group by key`,
  keys: sql`select best.id as key`,
  keysOfOne: sql`1`,
  told: sql`p.title as title, s.name as "shopName"`,
  joined: sql`join products p on p.id = best.id join shops s on s.id = p.shop_id`,
}

const merchants: Ranking = {
  by: 'MERCHANT_CENTS',
  beside: 'MERCHANT_ORDERS',
  added: sql`select id as key from shops where merchant_id in (select s.merchant_id from named n join shops s on s.id = n.key)`,
  ranked: sql`select s.merchant_id as id, sum(sums.value) as ranked from sums join shops s on s.id = sums.key group by s.merchant_id`,
  keys: sql`select s.id as key from shops s where s.merchant_id = best.id`,
  keysOfOne: sql`(select max(n) from (select count(*) as n from shops group by merchant_id) of_one)`,
  told: sql`'' as title, (select f.name from shops f where f.merchant_id = best.id order by f.id limit 1) as "shopName"`,
  joined: sql``,
}

/** So deep that it is no matter how far the lists reach beyond the window, where some sell far more than others. */
const depthOf = (limit: number): number => 2 * limit + 20

const whole = (number: number): SQL => sql`cast(${number} as integer)`
/** Written out, and said as the indexes say it: SQLite sees only so that an index of some figures has them. */
const inRanked = sql.raw("kpi in ('MERCHANT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_PRODUCT_UNITS')")
const inOfKey = sql.raw(
  "d.kpi in ('MERCHANT_CENTS', 'MERCHANT_ORDERS', 'PRODUCT_CENTS', 'PRODUCT_UNITS', 'TEST_MERCHANT_CENTS', 'TEST_MERCHANT_ORDERS', 'TEST_PRODUCT_CENTS', 'TEST_PRODUCT_UNITS')",
)
const named = (kpi: Kpi): SQL => sql.raw(`'${kpi}'`)

/** Without a word SQLite, until it has statistics of that index, reads the run of all keys for each of them. */
const byKey = sql.raw(engine === 'sqlite' ? 'indexed by kpi_days_of_key' : '')

/** What is kept of a key, as SQL names it, over a window: one range of an index for each run of sums. */
const keptOf = (kpi: SQL, key: SQL, runs: readonly Run[]): SQL =>
  sql.join(
    runs.map(
      ({ span, from, to }) => sql`(select coalesce(sum(d.value), 0) from kpi_days as d ${byKey}
        where d.kpi = ${kpi} and ${inOfKey} and d.key = ${key} and d.span = ${whole(span)} and d.day >= ${whole(from)} and d.day < ${whole(to)})`,
    ),
    sql` + `,
  )

type Row = { readonly id: string; readonly title: string; readonly shopName: string; ranked: number; beside: number; bound: number | null }

/** The best of a ranking, by one statement; undefined where it cannot tell that nobody else is among them. */
async function headOf(read: From, ranking: Ranking, mode: SalesMode, span: Span, limit: number): Promise<Row[] | undefined> {
  // The lists of both modes have no common order.
  if (mode === 'ALL') return undefined
  const { added, ranked, keys, keysOfOne, told, joined } = ranking
  const [by, beside, depth] = [named(inMode(ranking.by, mode)), named(inMode(ranking.beside, mode)), depthOf(limit)]
  const lists = listsOf(span).map(
    (list) => sql`from kpi_days where kpi = ${by} and ${inRanked} and span = ${whole(list.span)} and day = ${whole(list.day)}`,
  )
  const runs = runsOf(span.from, span.to + 1)
  const heads = lists.map((list) => sql`select key from (select key ${list} order by value desc limit ${depth}) head`)
  const lasts = lists.map(
    (list) => sql`select value from (select value ${list} and value > 0 order by value desc limit 1 offset ${depth - 1}) last_of_head`,
  )
  const rows = await read.rows<Row>(sql`
    with fresh as (select kpi, key, value from kpi_deltas where kpi in (${by}, ${beside}) and day >= ${span.from} and day <= ${span.to}),
    named as (${sql.join(heads, sql` union `)} union select key from fresh where kpi = ${by}),
    added as (${added}),
    sums as (
      select a.key, ${keptOf(by, sql`a.key`, runs)} as value from added a
      union all select key, value from fresh where kpi = ${by}),
    best as (select id, ranked from (${ranked}) of_all order by ranked desc, id limit ${limit})
    select best.id as id, best.ranked as ranked, ${told},
      (select coalesce(sum(${keptOf(beside, sql`of_one.key`, runs)}), 0) from (${keys}) of_one)
      + (select coalesce(sum(value), 0) from fresh where kpi = ${beside} and key in (${keys})) as beside,
      ${keysOfOne} * (select sum(value) from (${sql.join(lasts, sql` union all `)}) of_lists) as bound
    from best ${joined}
    order by best.ranked desc, best.id`)
  const head = rows.map((row) => ({ ...row, ranked: Number(row.ranked), beside: Number(row.beside), bound: Number(row.bound ?? 0) }))
  const last = head.at(-1)
  return head.length === limit && last !== undefined && last.ranked > last.bound ? head : undefined
}

export const rankingStore = {
  /** Of merchants, as `topMerchants` of the other store, for less; undefined where it cannot tell. */
  async headOfMerchants(read: From, mode: SalesMode, span: Span, limit: number): Promise<RankedRow[] | undefined> {
    const rows = await headOf(read, merchants, mode, span, limit)
    // Money of a day on which no order was confirmed ranks nobody.
    if (rows?.some(({ beside }) => beside <= 0)) return undefined
    return rows?.map(({ id, title, shopName, ranked, beside }) => ({ id, title, shopName, cents: ranked, n: beside }))
  },
  async headOfProducts(read: From, mode: SalesMode, span: Span, limit: number): Promise<RankedRow[] | undefined> {
    const rows = await headOf(read, products, mode, span, limit)
    return rows?.map(({ id, title, shopName, ranked, beside }) => ({ id, title, shopName, cents: beside, n: ranked }))
  },
}
