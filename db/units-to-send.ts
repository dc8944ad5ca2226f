import { type SQL, sql } from 'drizzle-orm'
import { engine } from './columns.ts'

/** Expands the lines of a fulfilment (`f`) or refund (`r`) into rows, as `line.value`. */
export const linesIn = (alias: 'f' | 'r'): SQL =>
  sql.raw(engine === 'sqlite' ? `json_each(${alias}.lines) as line` : `json_array_elements(${alias}.lines::json) as line(value)`)

/** The name of the orders row in the statement. */
type Row = 'o' | 'orders'
/**
 * The refunds that count for an order's units. WITH_PENDING includes pending refunds, whose units cannot be sent. FINAL
 * has only refunds that succeeded, are claimable or manual.
 */
type RefundScope = 'WITH_PENDING' | 'FINAL'

const refundsOf = (row: Row, scope: RefundScope): SQL =>
  scope === 'WITH_PENDING'
    ? sql`r.order_id = ${sql.raw(row)}.id and r.purpose <> 'LATE_CAPTURE' and r.status <> 'FAILED'`
    : sql`r.order_id = ${sql.raw(row)}.id and r.purpose <> 'LATE_CAPTURE' and r.status in ('SUCCEEDED', 'CLAIMABLE', 'MANUAL')`

/**
 * Builds the condition that an order has units that are neither sent nor refunded: the rule of `unitsOf` of
 * order/units.ts.
 */
export function hasUnits(row: Row, scope: RefundScope): SQL {
  const paid = sql.raw(`${row}.captured_total + ${row}.gift_card_total`)
  const refunds = refundsOf(row, scope)
  const ofLine = (from: SQL) =>
    sql`coalesce((select sum(cast(line.value ->> 'quantity' as integer)) from ${from} and line.value ->> 'lineId' = l.id), 0)`
  const sent = ofLine(sql`fulfilments f, ${linesIn('f')} where f.order_id = ${sql.raw(row)}.id`)
  // Returned units were sent: their refund leaves the unsent ones.
  const refunded = ofLine(sql`refunds r, ${linesIn('r')} where ${refunds} and line.value ->> 'returned' is null`)
  return sql`(
    not exists (select 1 from refunds r where ${refunds}
      group by r.order_id having sum(r.amount + r.gift_card_amount) >= ${paid} and ${paid} > 0
        and min(case when r.lines = '[]' then 0 else 1 end) = 0)
    and exists (select 1 from order_lines l where l.order_id = ${sql.raw(row)}.id and not l.gift_card and l.quantity > ${sent} + ${refunded}))`
}

/**
 * Builds the condition that an order has something left to send. Reads lines only for orders with a refund: any other
 * CONFIRMED order has. A scalar subquery, because PostgreSQL would answer `not exists` by reading the refunds of all
 * orders. `coalesce`, because it estimates few rows for `is null`, and would sort all instead of reading a page.
 */
export const isToFulfil = (row: Row): SQL =>
  sql`(${sql.raw(row)}.status = 'CONFIRMED'
    and (coalesce((select false from refunds r where ${refundsOf(row, 'WITH_PENDING')} limit 1), true) or ${hasUnits(row, 'WITH_PENDING')}))`
