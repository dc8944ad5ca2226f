import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../../db/engine.ts'
import { kpiWords } from '../../../../db/schema/kpi.ts'
import { between, dayIn, figuresOfShops, freshFiguresOfShops, presentOnly, valueList } from '../../../../db/shop-figures.ts'
import { dayMs } from '../../../lib/day.ts'
import { usdCentsOf } from '../../payments/fx/domain.ts'
import { type Difference, type Kpi, type KpiPart, kpiParts } from './domain.ts'

// Counts the figures from the facts with separate SQL, to verify and repair the stored ones.

/** Sums are text, since they may exceed an exact number. */
type Row = { kpi: Kpi | 'LINES' | 'TEST_LINES'; day: number; key: string; counted: string; stored: string }
type From = Pick<Reader, 'rows'>

/** Follows a cross join, which makes SQLite join shops last: it may otherwise scan a day's orders once per shop. */
const ofShop = sql`s.id = o.shop_id`

/** Orders count while their mode is their shop's mode. */
const ofPresentMode = sql`s.mode = o.mode`
/** The figure with the prefix of the order's mode. */
const ofMode = (kpi: string): SQL => sql.raw(`(case when o.mode = 'TEST' then 'TEST_' else '' end || '${kpi}')`)
const isSale = sql`t.confirmed and t.kind in ('CAPTURE', 'GIFT_CARD')`

/** Figures of users, shops and products. */
const registrationsAndApprovals = (from: number, to: number): SQL => sql`
  select 'USERS' as kpi, ${dayIn('created_at')} as day, 'MERCHANT' as key, count(*) as value
  from users where role = 'MERCHANT' and ${between('created_at', from, to)} group by 2
  union all select 'USERS', ${dayIn('created_at')}, 'CUSTOMER', count(*)
  from customers where password_hash is not null and ${between('created_at', from, to)} group by 2
  union all select 'SHOPS', ${dayIn('s.verified_at')}, k.cohort, count(*)
  from shops s join kyb_records k on k.merchant_id = s.merchant_id and k.status <> 'REJECTED' and k.status = 'APPROVED'
  where ${between('s.verified_at', from, to)} group by 2, 3
  union all select 'PRODUCTS', ${dayIn('created_at')}, created_as, count(*)
  from products where ${between('created_at', from, to)} group by 2, 3`

/** Figures of orders. LINES are those of affiliates' orders with a rate; the program computes their value. */
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

/** Figures of money movements. */
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
const kpiList = (parts: readonly KpiPart[]): SQL => valueList(kpiWords.filter((kpi) => parts.includes(partOf(kpi))))

/** The stored sums of a day: folded sums, deltas, and their effect on shops. `which` filters the rows. */
function storedSums(day: number, parts: readonly KpiPart[], which: SQL = sql`true`): SQL {
  const kpis = kpiList(parts)
  return sql`
    select kpi, key, value from kpi_days where kpi in (${kpis}) and span = 1 and day = ${day} and ${which}
    union all select kpi, key, value from kpi_deltas where kpi in (${kpis}) and day = ${day} and ${which}
    ${parts.includes('SHOPS') ? sql`union all select kpi, key, value from (${freshFiguresOfShops({ from: day, to: day })}) fresh where ${which}` : sql``}`
}

/** The figures of a period by its facts. */
function factSums(from: number, to: number, parts: readonly KpiPart[]): SQL {
  const [orderFilter, movementFilter] = [
    sql`${between('o.confirmed_at', from, to)} and ${ofPresentMode}`,
    sql`${between('t.at', from, to)} and ${ofPresentMode}`,
  ]
  const queries: Record<KpiPart, readonly SQL[]> = {
    NETWORK: [registrationsAndApprovals(from, to), sales(orderFilter), movements(movementFilter)],
    SHOPS: [
      figuresOfShops({
        orders: sql`orders o cross join shops s`,
        whichOrders: sql`${ofShop} and ${orderFilter}`,
        movements: sql`unified_transactions t join orders o on o.id = t.order_id cross join shops s`,
        whichMovements: sql`${ofShop} and ${movementFilter}`,
      }),
    ],
  }
  const selects = parts.flatMap((part) => queries[part]).map((facts, nth) => sql`select * from (${facts}) ${sql.raw(`facts_${nth}`)}`)
  return sql.join(selects, sql` union all `)
}

/**
 * Finds stored figures of a day that differ from their facts, in one statement, so that no write comes between.
 * @param parts the figures to compare
 */
export async function findDifferences(read: From, day: number, parts: readonly KpiPart[] = kpiParts): Promise<Difference[]> {
  const [from, to] = [day * dayMs, (day + 1) * dayMs]
  const rows = await read.rows<Row>(sql`
    with facts as (${factSums(from, to, parts)}),
    held as (${storedSums(day, parts)})
    select kpi, ${day} as day, key, cast(sum(counted) as text) as counted, cast(sum(stored) as text) as stored
    from (select kpi, key, value as counted, 0 as stored from facts union all select kpi, key, 0, value from held) both_of_them
    where ${presentOnly('both_of_them')}
    group by kpi, key having sum(counted) <> sum(stored)
    order by kpi, key`)
  return pricedRows(rows).filter(({ counted, stored }) => counted !== stored)
}

/**
 * Reads stored sums of a day by figure and key. Every write that changes facts also appends deltas, so these change
 * with the facts.
 */
export async function readStoredSums(
  read: From,
  day: number,
  keysToRead: readonly Pick<Difference, 'kpi' | 'key'>[],
): Promise<ReadonlyMap<string, bigint>> {
  if (keysToRead.length === 0) return new Map()
  const parts = kpiParts.filter((part) => keysToRead.some(({ kpi }) => partOf(kpi) === part))
  const keys = [...new Set(keysToRead.map(({ key }) => key))]
  const rows = await read.rows<{ kpi: Kpi; key: string; value: string }>(sql`
    select kpi, key, cast(sum(value) as text) as value from (${storedSums(day, parts, sql`key in (${valueList(keys)})`)}) held
    group by kpi, key`)
  return new Map(rows.map(({ kpi, key, value }) => [sumKey({ kpi, key }), BigInt(value)]))
}
/** Returns the key of a sum in the result of `readStoredSums`. */
export const sumKey = ({ kpi, key }: Pick<Difference, 'kpi' | 'key'>): string => `${kpi} ${key}`

/** Returns the figures of a shop's test orders, which are removed when it goes live. */
export async function testSalesOf(read: From, shopId: string): Promise<Difference[]> {
  const which = sql`o.shop_id = ${shopId} and o.mode = 'TEST'`
  const rows = await read.rows<Row>(sql`
    select kpi, day, key, cast(value as text) as counted, '0' as stored
    from (select * from (${sales(sql`${which} and o.confirmed_at is not null`)}) a union all select * from (${movements(which)}) b) facts
    order by kpi, day, key`)
  return pricedRows(rows)
}

/** Converts rows to numbers and replaces lines by their dollar value. */
function pricedRows(rows: readonly Row[]): Difference[] {
  const result: Difference[] = []
  const cents = new Map<string, Difference>()
  for (const { kpi, day, key, counted, stored } of rows) {
    const row = {
      kpi: kpi === 'LINES' ? 'PRODUCT_CENTS' : kpi === 'TEST_LINES' ? 'TEST_PRODUCT_CENTS' : kpi,
      day: Number(day),
      key,
      counted: BigInt(counted),
      stored: BigInt(stored),
    } as const
    const isLines = kpi === 'LINES' || kpi === 'TEST_LINES'
    if (row.kpi !== 'PRODUCT_CENTS' && row.kpi !== 'TEST_PRODUCT_CENTS') result.push(row)
    else {
      const [product = '', currency = '', rate = '', total] = isLines ? key.split(' ') : [key]
      const worth = isLines ? row.counted * BigInt(usdCentsOf(Number(total), currency as never, rate)) : 0n
      const name = `${row.kpi} ${row.day} ${product}`
      const before = cents.get(name) ?? { ...row, key: product, counted: 0n, stored: 0n }
      cents.set(name, { ...before, counted: before.counted + worth, stored: before.stored + row.stored })
    }
  }
  return [...result, ...cents.values()]
}

/** Returns the first day from one on with facts or figures; undefined if there is none. */
export const nextDay = (read: From, from: number): Promise<number | undefined> => nearestDay(read, sql`min`, sql`>=`, from)
/** Returns the last day before one with facts or figures; undefined if there is none. */
export const dayBefore = (read: From, to: number): Promise<number | undefined> => nearestDay(read, sql`max`, sql`<`, to)

async function nearestDay(read: From, nearest: SQL, beyond: SQL, bound: number): Promise<number | undefined> {
  const first = (table: string, column: string) =>
    sql`select ${nearest}(${sql.raw(column)}) / ${sql.raw(String(dayMs))} as day from ${sql.raw(table)} where ${sql.raw(column)} ${beyond} ${bound * dayMs}`
  const storedDays = kpiWords.map(
    (word) => sql`select ${nearest}(day) from kpi_days where kpi = ${word} and span = 1 and day ${beyond} ${bound}`,
  )
  const deltaDays = kpiWords.map((word) => sql`select ${nearest}(day) from kpi_deltas where kpi = ${word} and day ${beyond} ${bound}`)
  const moments = [
    first('users', 'created_at'),
    first('customers', 'created_at'),
    first('shops', 'verified_at'),
    first('products', 'created_at'),
    first('orders', 'confirmed_at'),
    first('unified_transactions', 'at'),
    ...storedDays,
    ...deltaDays,
  ]
  const [row] = await read.rows<{ day: number | null }>(
    sql`select ${nearest}(day) as day from (${sql.join(moments, sql` union all `)}) moments`,
  )
  return row?.day == null ? undefined : Number(row.day)
}

export type SpanDifference = Difference & { readonly span: number }

/** Finds sums of 8 and 64 days that differ from the sums of their days, in one statement. */
export async function spanDifferences(read: From, block: number): Promise<SpanDifference[]> {
  const kpis = kpiList(kpiParts)
  const of = (span: number) => sql`
    select kpi, ${sql.raw(`${span} as span, (day / ${span}) * ${span} as first`)}, key, value as counted, 0 as stored
    from kpi_days where kpi in (${kpis}) and span = 1 and day >= ${block} and day < ${block + 64}
    union all select kpi, ${sql.raw(String(span))}, day, key, 0, value
    from kpi_days where kpi in (${kpis}) and span = ${span} and day >= ${block} and day < ${block + 64}`
  const rows = await read.rows<Row & { span: number; first: number }>(sql`
    select kpi, span, first, key, cast(sum(counted) as text) as counted, cast(sum(stored) as text) as stored
    from (${of(8)} union all ${of(64)}) sums
    group by kpi, span, first, key having sum(counted) <> sum(stored) order by kpi, span, first, key`)
  return rows.map(({ kpi, span, first, key, counted, stored }) => ({
    kpi: kpi as Kpi,
    span: Number(span),
    day: Number(first),
    key,
    counted: BigInt(counted),
    stored: BigInt(stored),
  }))
}
