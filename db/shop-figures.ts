/** SQL of the figures of shops, from orders, lines and movements. See modules/operations/kpi. */
import { type SQL, sql } from 'drizzle-orm'

const dayMs = 86_400_000

/** A shop in one of its modes and currencies. */
type ShopFigures = { readonly shopId: string; readonly mode: string; readonly currency: string }

/** Converts a column of times to days. Integers divide to integers on both engines. */
export const dayIn = (column: string): SQL => sql.raw(`${column} / ${dayMs}`)
/** Builds the condition that a column is at least `from` and less than `to`, unlike BETWEEN of SQL. */
export const between = (column: string, from: number, to: number): SQL => sql`${sql.raw(column)} >= ${from} and ${sql.raw(column)} < ${to}`

// The figures of shops. Sales append no deltas for them: the network's deltas name their order or movement, and the
// fold derives the shop's figures from it. Reads derive those of unfolded deltas the same way.

const shopKeySql = sql.raw("o.shop_id || ' ' || o.mode || ' ' || o.currency")
/** The length of a shop id at the start of a key, and the position of the mode. */
const [idLength, modeAt] = ['shop_'.length + 26, 'shop_'.length + 26 + 2]

type Facts = {
  /** Orders as `o`. */
  readonly orders: SQL
  readonly whichOrders: SQL
  /** Rows of `unified_transactions` as `t` with their order as `o`. */
  readonly movements: SQL
  readonly whichMovements: SQL
}

/** A day as SQL, of a column of times. */
export type DayOf = (column: string) => SQL

/** Builds the rows (kpi, day, key, value) of confirmed orders by shop, mode and currency. */
export const orderFigures = ({ orders, whichOrders }: Facts, dayOf: DayOf): SQL => sql`
  select 'SHOP_ORDERS' as kpi, ${dayOf('o.confirmed_at')} as day, ${shopKeySql} as key, count(*) as value
  from ${orders} where o.confirmed_at is not null and ${whichOrders} group by 2, 3`
/** Builds the rows of units and revenue by product. Revenue is after discounts, in minor units. */
export const lineFigures = ({ orders, whichOrders }: Facts, dayOf: DayOf): SQL => sql`
  select sold.kpi, sold.day, sold.key, sum(sold.value) as value from (
    select case when copies.nth = 1 then 'SHOP_UNITS' else 'SHOP_REVENUE' end as kpi, ${dayOf('o.confirmed_at')} as day,
      ${shopKeySql} || ' ' || l.product_id as key, case when copies.nth = 1 then l.quantity else l.total - l.discount end as value
    from ${orders} join order_lines l on l.order_id = o.id cross join (select 1 as nth union all select 2) copies
    where o.confirmed_at is not null and ${whichOrders}) sold
  group by sold.kpi, sold.day, sold.key`
/** Builds the rows of captured and refunded money, gift cards included, in minor units. */
export const movementFigures = ({ movements, whichMovements }: Facts, dayOf: DayOf): SQL => sql`
  select moved.kpi, moved.day, moved.key, sum(moved.value) as value from (
    select case when t.kind in ('CAPTURE', 'GIFT_CARD') then 'SHOP_SALES' else 'SHOP_REFUNDS' end as kpi, ${dayOf('t.at')} as day, ${shopKeySql} as key,
      case when t.kind = 'REFUND_REVERSED' then -t.amount else t.amount end as value
    from ${movements}
    where t.confirmed and t.kind in ('CAPTURE', 'GIFT_CARD', 'REFUND', 'GIFT_CARD_REFUND', 'REFUND_REVERSED') and ${whichMovements}) moved
  group by moved.kpi, moved.day, moved.key`
/** Builds all figures of the facts as rows of (kpi, day, key, value). */
export const figuresOfShops = (facts: Facts): SQL =>
  sql.join(
    [orderFigures, lineFigures, movementFigures].map((figures) => figures(facts, dayIn)),
    sql` union all `,
  )

/** Returns the facts of a shop in a period. SQLite keeps the join order of the text. */
export const factsWithin = (shop: ShopFigures, { since, until }: { readonly since: number; readonly until: number }): Facts => ({
  orders: sql`orders o`,
  whichOrders: sql`${isOfShop(shop)} and ${between('o.confirmed_at', since, until)}`,
  movements: sql`unified_transactions t cross join orders o`,
  whichMovements: sql`t.shop_id = ${shop.shopId} and ${between('t.at', since, until)} and o.id = t.order_id and o.mode = ${shop.mode} and o.currency = ${shop.currency}`,
})

/** Returns the figures of unfolded deltas. SQLite keeps the join order of the text. */
export const freshFiguresOfShops = ({ from, to }: { readonly from: number; readonly to: number }, which: SQL = sql`true`): SQL =>
  figuresOfShops({
    orders: sql`kpi_deltas f cross join orders o`,
    whichOrders: sql`f.kpi in ('ORDERS', 'TEST_ORDERS') and f.day >= ${from} and f.day <= ${to} and o.id = f.id and ${which}`,
    movements: sql`kpi_deltas f cross join unified_transactions t cross join orders o`,
    whichMovements: sql`f.kpi in ('GMV', 'REFUNDS', 'UNPRICED', 'TEST_GMV', 'TEST_REFUNDS', 'TEST_UNPRICED') and f.day >= ${from} and f.day <= ${to}
      and t.id = f.id and o.id = t.order_id and ${which}`,
  })

/** Excludes figures of the mode that a shop no longer has. They stay stored but are not maintained. */
export const presentOnly = (rows: string): SQL =>
  sql.raw(
    `not (${rows}.kpi in ('SHOP_ORDERS', 'SHOP_SALES', 'SHOP_REFUNDS', 'SHOP_UNITS', 'SHOP_REVENUE') and exists (
      select 1 from shops k where k.id = substr(${rows}.key, 1, ${idLength}) and k.mode <> substr(${rows}.key, ${modeAt}, 4)))`,
  )

/** Builds the comma-separated parameters of an IN condition. At least one value. */
export const valueList = (values: readonly (string | number)[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )

/** Builds the condition that an order `o` is the shop's, in this mode and currency. */
export const isOfShop = ({ shopId, mode, currency }: ShopFigures): SQL =>
  sql`o.shop_id = ${shopId} and o.mode = ${mode} and o.currency = ${currency}`
