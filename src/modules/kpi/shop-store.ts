import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../db/engine.ts'
import { dayMs } from '../../lib/day.ts'
import { type DaySums, type Delta, type Kpi, keyOfSide, type ProductSums, runsOf, type Side, type Span } from './domain.ts'

// The figures of shops. Whoever sells appends nothing of them: the deltas of the dashboards name the order or the movement that they are of, and a fold
// that takes them away finds by these what they come to for the shop. What is not folded yet is found in the same way when it is asked for.

type From = Pick<Reader, 'rows'>

const dayIn = (column: string): SQL => sql.raw(`${column} / ${dayMs}`)
const side = sql.raw("o.shop_id || ' ' || o.mode || ' ' || o.currency")
/** A shop's id at the beginning of a key, and its mode behind that: ids are of one length. */
const [idLength, modeAt] = ['shop_'.length + 26, 'shop_'.length + 26 + 2]

type Facts = {
  /** Rows of orders as `o`. */
  readonly orders: SQL
  readonly whichOrders: SQL
  /** Rows of `unified_transactions` as `t` with their order as `o`. */
  readonly movements: SQL
  readonly whichMovements: SQL
}

/** What facts come to for their shops, as rows of (kpi, day, key, value). */
export const ofShops = ({ orders, whichOrders, movements, whichMovements }: Facts): SQL => sql`
  select 'SHOP_ORDERS' as kpi, ${dayIn('o.confirmed_at')} as day, ${side} as key, count(*) as value
  from ${orders} where o.confirmed_at is not null and ${whichOrders} group by 2, 3
  union all select sold.kpi, sold.day, sold.key, sum(sold.value) from (
    select case when copies.nth = 1 then 'SHOP_UNITS' else 'SHOP_REVENUE' end as kpi, ${dayIn('o.confirmed_at')} as day,
      ${side} || ' ' || l.product_id as key, case when copies.nth = 1 then l.quantity else l.total - l.discount end as value
    from ${orders} join order_lines l on l.order_id = o.id cross join (select 1 as nth union all select 2) copies
    where o.confirmed_at is not null and ${whichOrders}) sold
  group by sold.kpi, sold.day, sold.key
  union all select moved.kpi, moved.day, moved.key, sum(moved.value) from (
    select case when t.kind in ('CAPTURE', 'GIFT_CARD') then 'SHOP_SALES' else 'SHOP_REFUNDS' end as kpi, ${dayIn('t.at')} as day, ${side} as key,
      case when t.kind = 'REFUND_REVERSED' then -t.amount else t.amount end as value
    from ${movements}
    where t.confirmed and t.kind in ('CAPTURE', 'GIFT_CARD', 'REFUND', 'GIFT_CARD_REFUND', 'REFUND_REVERSED') and ${whichMovements}) moved
  group by moved.kpi, moved.day, moved.key`

/** The same of what is not folded yet. SQLite joins in the order in which it is said. */
export const freshOfShops = ({ from, to }: Span, which: SQL = sql`true`): SQL =>
  ofShops({
    orders: sql`kpi_deltas f cross join orders o`,
    whichOrders: sql`f.kpi = 'ORDERS' and f.day >= ${from} and f.day <= ${to} and o.id = f.id and ${which}`,
    movements: sql`kpi_deltas f cross join unified_transactions t cross join orders o`,
    whichMovements: sql`f.kpi in ('GMV', 'REFUNDS', 'UNPRICED') and f.day >= ${from} and f.day <= ${to}
      and t.id = f.id and o.id = t.order_id and ${which}`,
  })

/** Leaves out what shops did in another mode than their present one: that is kept, and nobody counts on with it. */
export const presentOnly = (rows: string): SQL =>
  sql.raw(
    `not (${rows}.kpi in ('SHOP_ORDERS', 'SHOP_SALES', 'SHOP_REFUNDS', 'SHOP_UNITS', 'SHOP_REVENUE') and exists (
      select 1 from shops k where k.id = substr(${rows}.key, 1, ${idLength}) and k.mode <> substr(${rows}.key, ${modeAt}, 4)))`,
  )

const list = (values: readonly (string | number)[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )
const daysOf = (from: number, to: number, step = 1): number[] => Array.from({ length: Math.ceil((to - from) / step) }, (_, nth) => from + nth * step)

const ofDays = sql.raw("'SHOP_ORDERS', 'SHOP_SALES', 'SHOP_REFUNDS'")
const ofProducts = sql.raw("'SHOP_UNITS', 'SHOP_REVENUE'")
const isOf = ({ shopId, mode, currency }: Side): SQL => sql`o.shop_id = ${shopId} and o.mode = ${mode} and o.currency = ${currency}`

export const shopStore = {
  /** What deltas come to for shops, by the facts that they name; those that name none come to nothing. */
  async ofDeltas(tx: From, deltas: readonly Pick<Delta, 'kpi' | 'id'>[]): Promise<Pick<Delta, 'kpi' | 'day' | 'key' | 'value'>[]> {
    const idsOf = (kpis: readonly Kpi[], prefix: string) =>
      deltas.filter(({ kpi, id }) => kpis.includes(kpi) && id.startsWith(prefix)).map(({ id }) => id)
    const [orders, movements] = [idsOf(['ORDERS'], 'order_'), idsOf(['GMV', 'REFUNDS', 'UNPRICED'], 'txn_')]
    if (orders.length + movements.length === 0) return []
    const among = (column: string, ids: readonly string[]) => (ids.length === 0 ? sql`false` : sql`${sql.raw(column)} in (${list(ids)})`)
    const rows = await tx.rows<{ kpi: Kpi; day: number | string; key: string; value: number | string }>(
      ofShops({
        orders: sql`orders o`,
        whichOrders: among('o.id', orders),
        movements: sql`unified_transactions t join orders o on o.id = t.order_id`,
        whichMovements: among('t.id', movements),
      }),
    )
    return rows.map(({ kpi, day, key, value }) => ({ kpi, day: Number(day), key, value: Number(value) }))
  },

  /** The days of a shop of which there is anything, by one statement. */
  async days(read: From, of: Side, span: Span): Promise<DaySums[]> {
    const key = keyOfSide(of)
    const rows = await read.rows<{ kpi: Kpi; day: number | string; value: string }>(sql`
      select kpi, day, cast(sum(value) as text) as value from (
        select kpi, day, value from kpi_days where kpi in (${ofDays}) and span = 1 and day in (${list(daysOf(span.from, span.to + 1))}) and key = ${key}
        union all select kpi, day, value from kpi_deltas where kpi in (${ofDays}) and day >= ${span.from} and day <= ${span.to} and key = ${key}
        union all select kpi, day, value from (${freshOfShops(span, isOf(of))}) fresh where kpi in (${ofDays})) sums
      group by kpi, day`)
    const days = Map.groupBy(rows, ({ day }) => Number(day))
    return [...days].map(([day, figures]) => {
      const value = (kpi: Kpi) => BigInt(figures.find((one) => one.kpi === kpi)?.value ?? 0)
      return { day, orders: value('SHOP_ORDERS'), confirmed: value('SHOP_SALES'), refunds: value('SHOP_REFUNDS') }
    })
  },

  /** So many of a shop's products that brought the most, and as many of which the most went: those of both once. By one statement. */
  async topProducts(read: From, of: Side, span: Span, limit: number): Promise<ProductSums[]> {
    const key = keyOfSide(of)
    const isProduct = sql`key > ${`${key} `} and key < ${`${key}!`}`
    const kept = runsOf(span.from, span.to + 1).map(
      (run) => sql`select kpi, key, value from kpi_days
        where kpi in (${ofProducts}) and span = ${run.span} and day in (${list(daysOf(run.from, run.to, run.span))}) and ${isProduct}`,
    )
    const parts = [
      ...kept,
      sql`select kpi, key, value from kpi_deltas where kpi in (${ofProducts}) and day >= ${span.from} and day <= ${span.to} and ${isProduct}`,
      sql`select kpi, key, value from (${freshOfShops(span, isOf(of))}) fresh where kpi in (${ofProducts})`,
    ]
    const head = (by: 'units' | 'revenue') =>
      sql`select * from (select id, units, revenue from sums where ${sql.raw(by)} > 0 order by ${sql.raw(by)} desc, id limit ${limit}) ${sql.raw(`by_${by}`)}`
    const rows = await read.rows<{ productId: string; title: string | null; units: string; revenue: string }>(sql`
      with sums as (
        select substr(key, ${key.length + 2}) as id, sum(case when kpi = 'SHOP_UNITS' then value else 0 end) as units,
          sum(case when kpi = 'SHOP_REVENUE' then value else 0 end) as revenue
        from (${sql.join(parts, sql` union all `)}) sold group by key)
      select best.id as "productId", p.title as title, cast(best.units as text) as units, cast(best.revenue as text) as revenue
      from (${head('units')} union ${head('revenue')}) best left join products p on p.id = best.id`)
    return rows.map(({ units, revenue, ...row }) => ({ ...row, units: BigInt(units), revenue: BigInt(revenue) }))
  },
}
