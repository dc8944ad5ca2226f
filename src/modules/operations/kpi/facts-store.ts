import { type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import type { Reader } from '../../../../db/engine.ts'
import { kpiWords } from '../../../../db/schema/kpi.ts'
import { dayMs } from '../../../lib/day.ts'
import { usdCentsOf } from '../../payments/fx/domain.ts'
import {
  type DaySums,
  type Delta,
  type Difference,
  inModes,
  type Kpi,
  type KpiPart,
  keyOfSide,
  kpiParts,
  type ProductSums,
  runsOf,
  type Side,
  type Span,
} from './domain.ts'

// The figures counted from the facts themselves, by SQL of their own: what is kept is held against it, and what it lacks is made up.

/** Sums come as text: they may be more than a number holds exactly. */
type Row = { kpi: Kpi | 'LINES' | 'TEST_LINES'; day: number; key: string; counted: string; kept: string }
type From = Pick<Reader, 'rows'>

/** A day of a moment; whole numbers divide to whole numbers on both engines. */
const dayIn = (column: string): SQL => sql.raw(`${column} / ${dayMs}`)
const between = (column: string, from: number, to: number): SQL => sql`${sql.raw(column)} >= ${from} and ${sql.raw(column)} < ${to}`

/** The shop of an order. A cross join has SQLite look into shops last: else it may go through all orders of a day once for each of them. */
const ofShop = sql`s.id = o.shop_id`

/** Orders and their money count while their mode is their shop's. */
const ofPresentMode = sql`s.mode = o.mode`
/** A figure as SQL: of the mode of its order. */
const ofMode = (kpi: string): SQL => sql.raw(`(case when o.mode = 'TEST' then 'TEST_' else '' end || '${kpi}')`)
const isSale = sql`t.confirmed and t.kind in ('CAPTURE', 'GIFT_CARD')`

/** People, shops and products of a time. */
const peopleAndGoods = (from: number, to: number): SQL => sql`
  select 'USERS' as kpi, ${dayIn('created_at')} as day, 'MERCHANT' as key, count(*) as value
  from users where role = 'MERCHANT' and ${between('created_at', from, to)} group by 2
  union all select 'USERS', ${dayIn('created_at')}, 'CUSTOMER', count(*)
  from customers where password_hash is not null and ${between('created_at', from, to)} group by 2
  union all select 'SHOPS', ${dayIn('s.verified_at')}, k.cohort, count(*)
  from shops s join kyb_records k on k.merchant_id = s.merchant_id and k.status <> 'REJECTED' and k.status = 'APPROVED'
  where ${between('s.verified_at', from, to)} group by 2, 3
  union all select 'PRODUCTS', ${dayIn('created_at')}, created_as, count(*)
  from products where ${between('created_at', from, to)} group by 2, 3`

/** What orders count for. LINES are those of partners' orders with a rate: what each is worth is computed by the program. */
const sales = (which: SQL): SQL => sql`
  select ${ofMode('ORDERS')} as kpi, ${dayIn('o.confirmed_at')} as day,
    coalesce(c.processor, case when o.gift_card_total > 0 then 'gift_card' else 'none' end) as key, count(*) as value
  from orders o cross join shops s
    left join unified_transactions c on c.order_id = o.id and c.kind = 'CAPTURE' and c.confirmed
  where ${ofShop} and ${which} group by 1, 2, 3
  union all select ${ofMode('MERCHANT_ORDERS')}, ${dayIn('o.confirmed_at')}, o.shop_id, count(*)
  from orders o cross join shops s
  where o.affiliate_id is not null and ${ofShop} and ${which} group by 1, 2, 3
  union all select ${ofMode('PRODUCT_UNITS')}, ${dayIn('o.confirmed_at')}, l.product_id, sum(l.quantity)
  from orders o cross join shops s join order_lines l on l.order_id = o.id
  where o.affiliate_id is not null and ${ofShop} and ${which} group by 1, 2, 3
  union all select kpi, day, product_id || ' ' || currency || ' ' || usd_per_unit || ' ' || total, count(*)
  from (
    select ${ofMode('LINES')} as kpi, ${dayIn('o.confirmed_at')} as day, l.product_id, o.currency, l.total - l.discount as total,
      (select t.usd_per_unit from unified_transactions t where t.order_id = o.id and ${isSale} order by t.key limit 1) as usd_per_unit
    from orders o cross join shops s join order_lines l on l.order_id = o.id
    where o.affiliate_id is not null and ${ofShop} and ${which}) priced
  where usd_per_unit is not null group by kpi, day, product_id, currency, usd_per_unit, total`

/** What movements of money count for. */
const movements = (which: SQL): SQL => sql`
  select kpi, day, key, sum(value) as value
  from (
    select case when t.usd_cents is null then ${ofMode('UNPRICED')} when t.kind in ('CAPTURE', 'GIFT_CARD') then ${ofMode('GMV')} else ${ofMode('REFUNDS')} end as kpi,
      ${dayIn('t.at')} as day,
      case when t.usd_cents is not null then t.processor when t.kind in ('CAPTURE', 'GIFT_CARD') then 'GMV' else 'REFUNDS' end as key,
      case when t.usd_cents is null then 1 when t.kind = 'REFUND_REVERSED' then -t.usd_cents else t.usd_cents end as value
    from unified_transactions t join orders o on o.id = t.order_id cross join shops s
    where t.confirmed and t.kind in ('CAPTURE', 'GIFT_CARD', 'REFUND', 'GIFT_CARD_REFUND', 'REFUND_REVERSED') and ${ofShop} and ${which}) counted
  group by kpi, day, key
  union all select ${ofMode('MERCHANT_CENTS')}, ${dayIn('t.at')}, t.shop_id, sum(t.usd_cents)
  from unified_transactions t join orders o on o.id = t.order_id cross join shops s
  where ${isSale} and t.affiliate_id is not null and t.usd_cents is not null and ${ofShop} and ${which} group by 1, 2, 3`

const partOf = (kpi: Kpi): KpiPart => (kpi.startsWith('SHOP_') ? 'SHOPS' : 'NETWORK')
const wordsOf = (parts: readonly KpiPart[]): SQL => list(kpiWords.filter((word) => parts.includes(partOf(word))))

/** What is kept of a day: the sums, what came since, and what that is to shops. @param which of all that is kept of these figures */
function heldOf(day: number, parts: readonly KpiPart[], which: SQL = sql`true`): SQL {
  const kpis = wordsOf(parts)
  return sql`
    select kpi, key, value from kpi_days where kpi in (${kpis}) and span = 1 and day = ${day} and ${which}
    union all select kpi, key, value from kpi_deltas where kpi in (${kpis}) and day = ${day} and ${which}
    ${parts.includes('SHOPS') ? sql`union all select kpi, key, value from (${freshOfShops({ from: day, to: day })}) fresh where ${which}` : sql``}`
}

/** What the facts of a time come to. */
function factsOf(from: number, to: number, parts: readonly KpiPart[]): SQL {
  const [ordered, moved] = [
    sql`${between('o.confirmed_at', from, to)} and ${ofPresentMode}`,
    sql`${between('t.at', from, to)} and ${ofPresentMode}`,
  ]
  const all: Record<KpiPart, readonly SQL[]> = {
    NETWORK: [peopleAndGoods(from, to), sales(ordered), movements(moved)],
    SHOPS: [
      ofShops({
        orders: sql`orders o cross join shops s`,
        whichOrders: sql`${ofShop} and ${ordered}`,
        movements: sql`unified_transactions t join orders o on o.id = t.order_id cross join shops s`,
        whichMovements: sql`${ofShop} and ${moved}`,
      }),
    ],
  }
  const some = parts.flatMap((part) => all[part]).map((facts, nth) => sql`select * from (${facts}) ${sql.raw(`facts_${nth}`)}`)
  return sql.join(some, sql` union all `)
}

/**
 * Where what is kept of a day is not what its facts say, in one statement, so that no write comes between.
 * @param parts the figures to look at
 * @returns empty where they agree
 */
export async function differencesOf(read: From, day: number, parts: readonly KpiPart[] = kpiParts): Promise<Difference[]> {
  const [from, to] = [day * dayMs, (day + 1) * dayMs]
  const rows = await read.rows<Row>(sql`
    with facts as (${factsOf(from, to, parts)}),
    held as (${heldOf(day, parts)})
    select kpi, ${day} as day, key, cast(sum(counted) as text) as counted, cast(sum(kept) as text) as kept
    from (select kpi, key, value as counted, 0 as kept from facts union all select kpi, key, 0, value from held) both_of_them
    where ${presentOnly('both_of_them')}
    group by kpi, key having sum(counted) <> sum(kept)
    order by kpi, key`)
  return pricedRows(rows).filter(({ counted, kept }) => counted !== kept)
}

/** What is kept of a day under some keys, by figure and key: every write that changes facts of it appends what changes this. */
export async function keptOf(
  read: From,
  day: number,
  some: readonly Pick<Difference, 'kpi' | 'key'>[],
): Promise<ReadonlyMap<string, bigint>> {
  if (some.length === 0) return new Map()
  const parts = kpiParts.filter((part) => some.some(({ kpi }) => partOf(kpi) === part))
  const keys = [...new Set(some.map(({ key }) => key))]
  const rows = await read.rows<{ kpi: Kpi; key: string; value: string }>(sql`
    select kpi, key, cast(sum(value) as text) as value from (${heldOf(day, parts, sql`key in (${list(keys)})`)}) held
    group by kpi, key`)
  return new Map(rows.map(({ kpi, key, value }) => [keptName({ kpi, key }), BigInt(value)]))
}
export const keptName = ({ kpi, key }: Pick<Difference, 'kpi' | 'key'>): string => `${kpi} ${key}`

/** What the orders of a shop in test mode count for, by the facts: what leaves the figures when it goes live. */
export async function testSalesOf(read: From, shopId: string): Promise<Difference[]> {
  const which = sql`o.shop_id = ${shopId} and o.mode = 'TEST'`
  const rows = await read.rows<Row>(sql`
    select kpi, day, key, cast(value as text) as counted, '0' as kept
    from (select * from (${sales(sql`${which} and o.confirmed_at is not null`)}) a union all select * from (${movements(which)}) b) facts
    order by kpi, day, key`)
  return pricedRows(rows)
}

/** The rows as numbers, with what lines are worth in the place of the lines. */
function pricedRows(rows: readonly Row[]): Difference[] {
  const told: Difference[] = []
  const cents = new Map<string, Difference>()
  for (const { kpi, day, key, counted, kept } of rows) {
    const row = {
      kpi: kpi === 'LINES' ? 'PRODUCT_CENTS' : kpi === 'TEST_LINES' ? 'TEST_PRODUCT_CENTS' : kpi,
      day: Number(day),
      key,
      counted: BigInt(counted),
      kept: BigInt(kept),
    } as const
    const isLines = kpi === 'LINES' || kpi === 'TEST_LINES'
    if (row.kpi !== 'PRODUCT_CENTS' && row.kpi !== 'TEST_PRODUCT_CENTS') told.push(row)
    else {
      const [product = '', currency = '', rate = '', total] = isLines ? key.split(' ') : [key]
      const worth = isLines ? row.counted * BigInt(usdCentsOf(Number(total), currency as never, rate)) : 0n
      const name = `${row.kpi} ${row.day} ${product}`
      const before = cents.get(name) ?? { ...row, key: product, counted: 0n, kept: 0n }
      cents.set(name, { ...before, counted: before.counted + worth, kept: before.kept + row.kept })
    }
  }
  return [...told, ...cents.values()]
}

/** The first day from one on of which there are facts, or figures; undefined when there is none. */
export const nextDay = (read: From, from: number): Promise<number | undefined> => nearestDay(read, sql`min`, sql`>=`, from)
/** The last day before one of which there are facts, or figures; undefined when there is none. */
export const dayBefore = (read: From, to: number): Promise<number | undefined> => nearestDay(read, sql`max`, sql`<`, to)

async function nearestDay(read: From, nearest: SQL, beyond: SQL, bound: number): Promise<number | undefined> {
  const first = (table: string, column: string) =>
    sql`select ${nearest}(${sql.raw(column)}) / ${sql.raw(String(dayMs))} as day from ${sql.raw(table)} where ${sql.raw(column)} ${beyond} ${bound * dayMs}`
  const kept = kpiWords.map((word) => sql`select ${nearest}(day) from kpi_days where kpi = ${word} and span = 1 and day ${beyond} ${bound}`)
  const fresh = kpiWords.map((word) => sql`select ${nearest}(day) from kpi_deltas where kpi = ${word} and day ${beyond} ${bound}`)
  const moments = [
    first('users', 'created_at'),
    first('customers', 'created_at'),
    first('shops', 'verified_at'),
    first('products', 'created_at'),
    first('orders', 'confirmed_at'),
    first('unified_transactions', 'at'),
    ...kept,
    ...fresh,
  ]
  const [row] = await read.rows<{ day: number | null }>(
    sql`select ${nearest}(day) as day from (${sql.join(moments, sql` union all `)}) moments`,
  )
  return row?.day == null ? undefined : Number(row.day)
}

export type SpanDifference = Difference & { readonly span: number }

/** Where the sums by 8 and by 64 days of 64 days are not those of their days, in one statement. */
export async function spanDifferences(read: From, block: number): Promise<SpanDifference[]> {
  const all = wordsOf(kpiParts)
  const of = (span: number) => sql`
    select kpi, ${sql.raw(`${span} as span, (day / ${span}) * ${span} as first`)}, key, value as counted, 0 as kept
    from kpi_days where kpi in (${all}) and span = 1 and day >= ${block} and day < ${block + 64}
    union all select kpi, ${sql.raw(String(span))}, day, key, 0, value
    from kpi_days where kpi in (${all}) and span = ${span} and day >= ${block} and day < ${block + 64}`
  const rows = await read.rows<Row & { span: number; first: number }>(sql`
    select kpi, span, first, key, cast(sum(counted) as text) as counted, cast(sum(kept) as text) as kept
    from (${of(8)} union all ${of(64)}) sums
    group by kpi, span, first, key having sum(counted) <> sum(kept) order by kpi, span, first, key`)
  return rows.map(({ kpi, span, first, key, counted, kept }) => ({
    kpi: kpi as Kpi,
    span: Number(span),
    day: Number(first),
    key,
    counted: BigInt(counted),
    kept: BigInt(kept),
  }))
}

// The figures of shops. Whoever sells appends nothing of them: the deltas of the dashboards name the order or the movement that they are of, and a fold
// that takes them away finds by these what they come to for the shop. What is not folded yet is found in the same way when it is asked for.

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
const ofShops = ({ orders, whichOrders, movements, whichMovements }: Facts): SQL => sql`
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
const freshOfShops = ({ from, to }: Span, which: SQL = sql`true`): SQL =>
  ofShops({
    orders: sql`kpi_deltas f cross join orders o`,
    whichOrders: sql`f.kpi in ('ORDERS', 'TEST_ORDERS') and f.day >= ${from} and f.day <= ${to} and o.id = f.id and ${which}`,
    movements: sql`kpi_deltas f cross join unified_transactions t cross join orders o`,
    whichMovements: sql`f.kpi in ('GMV', 'REFUNDS', 'UNPRICED', 'TEST_GMV', 'TEST_REFUNDS', 'TEST_UNPRICED') and f.day >= ${from} and f.day <= ${to}
      and t.id = f.id and o.id = t.order_id and ${which}`,
  })

/** Leaves out what shops did in another mode than their present one: that is kept, and nobody counts on with it. */
const presentOnly = (rows: string): SQL =>
  sql.raw(
    `not (${rows}.kpi in ('SHOP_ORDERS', 'SHOP_SALES', 'SHOP_REFUNDS', 'SHOP_UNITS', 'SHOP_REVENUE') and exists (
      select 1 from shops k where k.id = substr(${rows}.key, 1, ${idLength}) and k.mode <> substr(${rows}.key, ${modeAt}, 4)))`,
  )

const list = (values: readonly (string | number)[]): SQL =>
  sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )
const daysOf = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, nth) => from + nth * step)

const ofDays = sql.raw("'SHOP_ORDERS', 'SHOP_SALES', 'SHOP_REFUNDS'")
const ofProducts = sql.raw("'SHOP_UNITS', 'SHOP_REVENUE'")
const isOf = ({ shopId, mode, currency }: Side): SQL => sql`o.shop_id = ${shopId} and o.mode = ${mode} and o.currency = ${currency}`

export const shopFigures = {
  /** What deltas come to for shops, by the facts that they name; those that name none come to nothing. */
  async ofDeltas(tx: From, deltas: readonly Pick<Delta, 'kpi' | 'id'>[]): Promise<Pick<Delta, 'kpi' | 'day' | 'key' | 'value'>[]> {
    const idsOf = (kpis: readonly Kpi[], prefix: string) =>
      deltas.filter(({ kpi, id }) => kpis.includes(kpi) && id.startsWith(prefix)).map(({ id }) => id)
    const [orders, movements] = [idsOf(inModes(['ORDERS'], 'ALL'), 'order_'), idsOf(inModes(['GMV', 'REFUNDS', 'UNPRICED'], 'ALL'), 'txn_')]
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

  /** So many of a shop's products that brought the most, and as many of which the most went: those of both once. */
  async topProducts(read: From, of: Side, span: Span, limit: number): Promise<ProductSums[]> {
    const { settled, last } = productParts(of, span)
    const sumsOf = (parts: readonly SQL[]) => sql`
      select substr(key, ${keyOfSide(of).length + 2}) as id, sum(case when kpi = 'SHOP_UNITS' then value else 0 end) as units,
        sum(case when kpi = 'SHOP_REVENUE' then value else 0 end) as revenue
      from (${sql.join([...parts], sql` union all `)}) sold group by key`
    // A server adds up by itself, and hands over only the best.
    if (engine === 'postgres') {
      const head = (by: 'units' | 'revenue') =>
        sql`select * from (select id from sums where ${sql.raw(by)} > 0 order by ${sql.raw(by)} desc, id limit ${limit}) ${sql.raw(`by_${by}`)}`
      const best = await read.rows<SumRow>(sql`
        with sums as (${sumsOf([...settled, ...last])})
        select id, cast(units as text) as units, cast(revenue as text) as revenue from sums where id in (${head('units')} union ${head('revenue')})`)
      return titled(read, best)
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
    return titled(
      read,
      [...best].map(([id, { units, revenue }]) => ({ id, units: String(units), revenue: String(revenue) })),
    )
  },
}

type SumRow = { readonly id: string; readonly units: string | number; readonly revenue: string | number }

/**
 * Where the products of a window stand. `settled`: sums of days that are over, which nobody adds to any more, so that each may be read by itself and
 * others have their turn in between; `last`: the rest, to be read by one statement, since a fold moves from one to the other.
 */
function productParts(of: Side, span: Span): { settled: SQL[]; last: SQL[] } {
  const key = keyOfSide(of)
  const isProduct = sql`key > ${`${key} `} and key < ${`${key}!`}`
  const kept = (length: number, days: readonly number[]) => sql`select kpi, key, value from kpi_days
    where kpi in (${ofProducts}) and span = ${length} and day in (${list(days)}) and ${isProduct}`
  const pieces = runsOf(span.from, span.to + 1).flatMap((run) =>
    daysOf(run.from, run.to, run.span).map((day) => ({ day, length: run.span })),
  )
  const isSettled = ({ day, length }: { day: number; length: number }) => day + length - 1 < span.to - 1
  const open = pieces.filter((piece) => !isSettled(piece))
  return {
    settled: pieces.filter(isSettled).map(({ day, length }) => kept(length, [day])),
    last: [
      ...open.map(({ day, length }) => kept(length, [day])),
      sql`select kpi, key, value from kpi_deltas where kpi in (${ofProducts}) and day >= ${span.from} and day <= ${span.to} and ${isProduct}`,
      sql`select kpi, key, value from (${freshOfShops(span, isOf(of))}) fresh where kpi in (${ofProducts})`,
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

/** With what they are called now. */
async function titled(read: From, rows: readonly SumRow[]): Promise<ProductSums[]> {
  if (rows.length === 0) return []
  const named = await read.rows<{ id: string; title: string }>(
    sql`select id, title from products where id in (${list(rows.map(({ id }) => id))})`,
  )
  const titles = new Map(named.map(({ id, title }) => [id, title]))
  return rows.map(({ id, units, revenue }) => ({
    productId: id,
    title: titles.get(id) ?? null,
    units: BigInt(units),
    revenue: BigInt(revenue),
  }))
}
