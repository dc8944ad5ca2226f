import { type SQL, sql } from 'drizzle-orm'
import type { Reader } from '../../../db/engine.ts'
import { dayMs } from '../../lib/day.ts'
import type { Span } from '../kpi/domain.ts'
import { cartsMax, type DaySums, type ProductSums, type Side } from './domain.ts'

type From = Pick<Reader, 'rows'>

const within = (column: string, { from, to }: Span): SQL =>
  sql`${sql.raw(column)} >= ${from * dayMs} and ${sql.raw(column)} < ${(to + 1) * dayMs}`
const dayIn = (column: string): SQL => sql.raw(`${column} / ${dayMs}`)

/** What a shop sold, by its day. */
export const overviewStore = {
  /** The days of which there is anything. */
  async days(read: From, { shopId, mode, currency }: Side, span: Span): Promise<DaySums[]> {
    const rows = await read.rows<Record<'day' | 'orders' | 'confirmed' | 'refunds', string>>(sql`
      select day, cast(sum(orders) as text) as orders, cast(sum(confirmed) as text) as confirmed, cast(sum(refunds) as text) as refunds
      from (
        select ${dayIn('o.confirmed_at')} as day, count(*) as orders, 0 as confirmed, 0 as refunds from orders o
        where o.shop_id = ${shopId} and o.mode = ${mode} and o.currency = ${currency} and ${within('o.confirmed_at', span)} group by 1
        union all
        select ${dayIn('t.at')}, 0,
          sum(case when t.kind in ('CAPTURE', 'GIFT_CARD') then t.amount else 0 end),
          sum(case when t.kind in ('REFUND', 'GIFT_CARD_REFUND') then t.amount when t.kind = 'REFUND_REVERSED' then -t.amount else 0 end)
        from unified_transactions t join orders o on o.id = t.order_id
        where t.shop_id = ${shopId} and t.confirmed and t.currency = ${currency} and o.mode = ${mode} and ${within('t.at', span)} group by 1) facts
      group by day order by day`)
    return rows.map((row) => ({
      day: Number(row.day),
      orders: BigInt(row.orders),
      confirmed: BigInt(row.confirmed),
      refunds: BigInt(row.refunds),
    }))
  },

  /** All products of which something was sold. */
  async products(read: From, { shopId, mode, currency }: Side, span: Span): Promise<ProductSums[]> {
    const rows = await read.rows<{ productId: string; title: string | null; units: string; revenue: string }>(sql`
      select sums.id as "productId", p.title as title, cast(sums.units as text) as units, cast(sums.revenue as text) as revenue
      from (
        select l.product_id as id, sum(l.quantity) as units, sum(l.total - l.discount) as revenue
        from orders o join order_lines l on l.order_id = o.id
        where o.shop_id = ${shopId} and o.mode = ${mode} and o.currency = ${currency} and ${within('o.confirmed_at', span)}
        group by l.product_id) sums
        left join products p on p.id = sums.id`)
    return rows.map((row) => ({ ...row, units: BigInt(row.units), revenue: BigInt(row.revenue) }))
  },

  /** How many carts were begun by shoppers, and what of them became orders; `isCapped`: there are more. */
  async carts(
    read: From,
    { shopId, since }: { shopId: string; since: number },
    { from, to }: Span,
  ): Promise<{ begun: number; converted: number; isCapped: boolean }> {
    const [row] = await read.rows<{ begun: string | number; converted: string | number | null }>(sql`
      select count(*) as begun, sum(case when status = 'CONVERTED' then 1 else 0 end) as converted
      from (
        select status from carts
        where shop_id = ${shopId} and created_at >= ${Math.max(from * dayMs, since)} and created_at < ${(to + 1) * dayMs} and draft is null
        limit ${cartsMax + 1}) first_ones`)
    const begun = Number(row?.begun ?? 0)
    return { begun: Math.min(begun, cartsMax), converted: Number(row?.converted ?? 0), isCapped: begun > cartsMax }
  },

  /** When a shop got its first keys of a mode: since then it has it; undefined of keys that are forgotten. */
  async keysSince(read: From, shopId: string, mode: Side['mode']): Promise<number | undefined> {
    const [row] = await read.rows<{ since: string | number | null }>(
      sql`select min(created_at) as since from api_keys where shop_id = ${shopId} and mode = ${mode}`,
    )
    return row?.since === null || row?.since === undefined ? undefined : Number(row.since)
  },
}
