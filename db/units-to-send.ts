import { type SQL, sql } from 'drizzle-orm'
import { engine } from './columns.ts'

/** The lines of each parcel or refund of `from`, one row each, as `line.value`. @param alias of the table that has them */
export const linesIn = (alias: 'f' | 'r'): SQL =>
  sql.raw(engine === 'sqlite' ? `json_each(${alias}.lines) as line` : `json_array_elements(${alias}.lines::json) as line(value)`)

/** What the row of orders is called in the statement. */
type Row = 'o' | 'orders'
type Which = 'LEFT' | 'OPEN'

/** The refunds of an order that take units. LEFT: also those under way, whose units cannot be sent; OPEN: only those that the shopper is sure to get. */
const refundsOf = (row: Row, which: Which): SQL =>
  which === 'LEFT'
    ? sql`r.order_id = ${sql.raw(row)}.id and r.purpose <> 'LATE_CAPTURE' and r.status <> 'FAILED'`
    : sql`r.order_id = ${sql.raw(row)}.id and r.purpose <> 'LATE_CAPTURE' and r.status in ('SUCCEEDED', 'CLAIMABLE', 'MANUAL')`

/** Whether a row of orders has units that are neither sent nor refunded: the rule of `unitsOf` of order/units.ts, as SQL. */
export function hasUnits(row: Row, which: Which): SQL {
  const paid = sql.raw(`${row}.captured_total + ${row}.gift_card_total`)
  const refunds = refundsOf(row, which)
  const ofLine = (from: SQL) =>
    sql`coalesce((select sum(cast(line.value ->> 'quantity' as integer)) from ${from} and line.value ->> 'lineId' = l.id), 0)`
  const sent = ofLine(sql`fulfilments f, ${linesIn('f')} where f.order_id = ${sql.raw(row)}.id`)
  const refunded = ofLine(sql`refunds r, ${linesIn('r')} where ${refunds}`)
  return sql`(
    not exists (select 1 from refunds r where ${refunds}
      group by r.order_id having sum(r.amount + r.gift_card_amount) >= ${paid} and ${paid} > 0
        and min(case when r.lines = '[]' then 0 else 1 end) = 0)
    and exists (select 1 from order_lines l where l.order_id = ${sql.raw(row)}.id and l.quantity > ${sent} + ${refunded}))`
}

/**
 * Whether something of a row of orders is left to send now. Only an order with a refund is looked into: any other is CONFIRMED until its last parcel.
 * Written as a value, because PostgreSQL would answer `not exists` by reading the refunds of all orders.
 */
export const isToFulfil = (row: Row): SQL =>
  sql`(${sql.raw(row)}.status = 'CONFIRMED'
    and ((select 1 from refunds r where ${refundsOf(row, 'LEFT')} limit 1) is null or ${hasUnits(row, 'LEFT')}))`
