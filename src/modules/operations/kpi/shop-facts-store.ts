import { type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import type { Reader } from '../../../../db/engine.ts'
import {
  type DayOf,
  dayIn,
  factsWithin,
  figuresOfShops,
  freshFiguresOfShops,
  isOfShop,
  lineFigures,
  movementFigures,
  orderFigures,
  valueList,
} from '../../../../db/shop-figures.ts'
import type { DayRun } from '../../../lib/zone-days.ts'
import {
  type DaySums,
  type Delta,
  inModes,
  type Kpi,
  type Period,
  type ProductSums,
  runsOf,
  type ShopCurrency,
  type Span,
  shopKeyOf,
} from './domain.ts'

type From = Pick<Reader, 'rows'>

const daysOf = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, nth) => from + nth * step)
const ofDays = sql.raw("'SHOP_ORDERS', 'SHOP_SALES', 'SHOP_REFUNDS'")
const ofProducts = sql.raw("'SHOP_UNITS', 'SHOP_REVENUE'")

export const shopFigures = {
  /** Derives the shops' figures of deltas from the facts that these name. */
  async ofDeltas(tx: From, deltas: readonly Pick<Delta, 'kpi' | 'id'>[]): Promise<Pick<Delta, 'kpi' | 'day' | 'key' | 'value'>[]> {
    const idsOf = (kpis: readonly Kpi[], prefix: string) =>
      deltas.filter(({ kpi, id }) => kpis.includes(kpi) && id.startsWith(prefix)).map(({ id }) => id)
    const [orders, movements] = [idsOf(inModes(['ORDERS'], 'ALL'), 'order_'), idsOf(inModes(['GMV', 'REFUNDS', 'UNPRICED'], 'ALL'), 'txn_')]
    if (orders.length + movements.length === 0) return []
    const inCondition = (column: string, ids: readonly string[]) =>
      ids.length === 0 ? sql`false` : sql`${sql.raw(column)} in (${valueList(ids)})`
    const rows = await tx.rows<{ kpi: Kpi; day: number | string; key: string; value: number | string }>(
      figuresOfShops({
        orders: sql`orders o`,
        whichOrders: inCondition('o.id', orders),
        movements: sql`unified_transactions t join orders o on o.id = t.order_id`,
        whichMovements: inCondition('t.id', movements),
      }),
    )
    return rows.map(({ kpi, day, key, value }) => ({ kpi, day: Number(day), key, value: Number(value) }))
  },

  /** Reads the days of a shop that have figures, in one statement. */
  async days(read: From, shop: ShopCurrency, span: Span): Promise<DaySums[]> {
    const key = shopKeyOf(shop)
    const rows = await read.rows<DayRow>(sql`
      select kpi, day, cast(sum(value) as text) as value from (
        select kpi, day, value from kpi_days where kpi in (${ofDays}) and span = 1 and day in (${valueList(daysOf(span.from, span.to + 1))}) and key = ${key}
        union all select kpi, day, value from kpi_deltas where kpi in (${ofDays}) and day >= ${span.from} and day <= ${span.to} and key = ${key}
        union all select kpi, day, value from (${freshFiguresOfShops(span, isOfShop(shop))}) fresh where kpi in (${ofDays})) sums
      group by kpi, day`)
    return daySums(rows)
  },

  /** Reads the days of a shop that have figures from the facts, run by run, so that requests run in between. */
  async daysOfRuns(read: From, shop: ShopCurrency, runs: readonly DayRun[]): Promise<DaySums[]> {
    const days: DaySums[] = []
    for (const { day, since, length, ...run } of runs) {
      const dayOf: DayOf = (column) =>
        sql`${sql.raw(String(day))} + (${sql.raw(column)} - ${sql.raw(String(since))}) / ${sql.raw(String(length))}`
      const facts = factsWithin(shop, { since, ...run })
      const rows = await read.rows<DayRow>(sql`
        select kpi, day, cast(value as text) as value from (${orderFigures(facts, dayOf)} union all ${movementFigures(facts, dayOf)}) figures`)
      days.push(...daySums(rows))
      await new Promise((resume) => setImmediate(resume))
    }
    return days
  },

  /**
   * Reads the products with the highest revenue and those with the most units.
   * @param edges periods beside the UTC days of `span`, whose lines are added
   */
  async topProducts(read: From, shop: ShopCurrency, span: Span, limit: number, edges: readonly Period[] = []): Promise<ProductSums[]> {
    const { settled, last: ofSpan } = productQueries(shop, span)
    const ofEdges = edges.map(
      (edge, nth) => sql`select kpi, key, value from (${lineFigures(factsWithin(shop, edge), dayIn)}) ${sql.raw(`edge_${nth}`)}`,
    )
    const last = [...ofSpan, ...ofEdges]
    const sumsOf = (parts: readonly SQL[]) => sql`
      select substr(key, ${shopKeyOf(shop).length + 2}) as id, sum(case when kpi = 'SHOP_UNITS' then value else 0 end) as units,
        sum(case when kpi = 'SHOP_REVENUE' then value else 0 end) as revenue
      from (${sql.join([...parts], sql` union all `)}) sold group by key`
    // PostgreSQL sums up itself and returns only the best.
    if (engine === 'postgres') {
      const topSums = (by: 'units' | 'revenue') =>
        sql`select * from (select id from sums where ${sql.raw(by)} > 0 order by ${sql.raw(by)} desc, id limit ${limit}) ${sql.raw(`by_${by}`)}`
      const best = await read.rows<SumRow>(sql`
        with sums as (${sumsOf([...settled, ...last])})
        select id, cast(units as text) as units, cast(revenue as text) as revenue from sums where id in (${topSums('units')} union ${topSums('revenue')})`)
      return addTitles(read, best)
    }
    const sums = new Map<string, { units: bigint; revenue: bigint }>()
    for (const parts of [...settled.map((part) => [part]), last]) {
      for (const { id, units, revenue } of await read.rows<SumRow>(
        sql`select id, cast(units as text) as units, cast(revenue as text) as revenue from (${sumsOf(parts)}) sums`,
      )) {
        const before = sums.get(id)
        sums.set(id, { units: (before?.units ?? 0n) + BigInt(units), revenue: (before?.revenue ?? 0n) + BigInt(revenue) })
      }
      await new Promise((resume) => setImmediate(resume))
    }
    const best = new Map([...headOf(sums, 'units', limit), ...headOf(sums, 'revenue', limit)])
    return addTitles(
      read,
      [...best].map(([id, { units, revenue }]) => ({ id, units: String(units), revenue: String(revenue) })),
    )
  },
}

type DayRow = { readonly kpi: Kpi; readonly day: number | string; readonly value: string }

function daySums(rows: readonly DayRow[]): DaySums[] {
  const days = Map.groupBy(rows, ({ day }) => Number(day))
  return [...days].map(([day, figures]) => {
    const value = (kpi: Kpi) => BigInt(figures.find((figure) => figure.kpi === kpi)?.value ?? 0)
    return { day, orders: value('SHOP_ORDERS'), confirmed: value('SHOP_SALES'), refunds: value('SHOP_REFUNDS') }
  })
}

type SumRow = { readonly id: string; readonly units: string | number; readonly revenue: string | number }

/**
 * Splits the sums of a window. `settled`: past days, which no write changes, so that each is read alone and requests
 * run in between; `last`: the rest, read in one statement, since a fold moves rows between its tables.
 */
function productQueries(shop: ShopCurrency, span: Span): { settled: SQL[]; last: SQL[] } {
  const key = shopKeyOf(shop)
  const isProduct = sql`key > ${`${key} `} and key < ${`${key}!`}`
  const storedRows = (length: number, days: readonly number[]) => sql`select kpi, key, value from kpi_days
    where kpi in (${ofProducts}) and span = ${length} and day in (${valueList(days)}) and ${isProduct}`
  const pieces = runsOf(span.from, span.to + 1).flatMap((run) =>
    daysOf(run.from, run.to, run.span).map((day) => ({ day, length: run.span })),
  )
  const isSettled = ({ day, length }: { day: number; length: number }) => day + length - 1 < span.to - 1
  const open = pieces.filter((piece) => !isSettled(piece))
  return {
    settled: pieces.filter(isSettled).map(({ day, length }) => storedRows(length, [day])),
    last: [
      ...open.map(({ day, length }) => storedRows(length, [day])),
      sql`select kpi, key, value from kpi_deltas where kpi in (${ofProducts}) and day >= ${span.from} and day <= ${span.to} and ${isProduct}`,
      sql`select kpi, key, value from (${freshFiguresOfShops(span, isOfShop(shop))}) fresh where kpi in (${ofProducts})`,
    ],
  }
}

function headOf<Sums extends { units: bigint; revenue: bigint }>(sums: ReadonlyMap<string, Sums>, by: 'units' | 'revenue', limit: number) {
  const head: [string, Sums][] = []
  const isBefore = ([id, one]: [string, Sums], [other, than]: [string, Sums]) => one[by] > than[by] || (one[by] === than[by] && id < other)
  for (const entry of sums) {
    const last = head.at(-1)
    if (entry[1][by] <= 0n || (head.length === limit && last && !isBefore(entry, last))) continue
    const at = head.findIndex((one) => isBefore(entry, one))
    head.splice(at < 0 ? head.length : at, 0, entry)
    if (head.length > limit) head.pop()
  }
  return head
}

/** Adds the current titles. */
async function addTitles(read: From, rows: readonly SumRow[]): Promise<ProductSums[]> {
  if (rows.length === 0) return []
  const products = await read.rows<{ id: string; title: string }>(
    sql`select id, title from products where id in (${valueList(rows.map(({ id }) => id))})`,
  )
  const titles = new Map(products.map(({ id, title }) => [id, title]))
  return rows.map(({ id, units, revenue }) => ({
    productId: id,
    title: titles.get(id) ?? null,
    units: BigInt(units),
    revenue: BigInt(revenue),
  }))
}
