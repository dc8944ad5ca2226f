import { sql } from 'drizzle-orm'
import { engine } from '../../../db/columns.ts'
import { orderIndexed } from '../../../db/search.ts'
import { type Checked, type Finding, findingsOf, type Rule } from '../../core/findings.ts'

/** The lines of a parcel or a refund, each as `line.value`. @param of the row that has them */
const linesOf = (of: 'f' | 'r') =>
  sql.raw(engine === 'sqlite' ? `json_each(${of}.lines) as line` : `json_array_elements(${of}.lines::json) as line(value)`)

// Asked for by `souk check` alone, and so made by it.
const rules = (): readonly Rule[] => [
  {
    subject: 'fulfilments',
    broken: sql`
      with sent as (
        select f.order_id, line.value ->> 'lineId' as line_id, sum(cast(line.value ->> 'quantity' as integer)) as n
        from fulfilments f, ${linesOf('f')} group by f.order_id, line.value ->> 'lineId'),
      back as (
        select r.order_id, line.value ->> 'lineId' as line_id, sum(cast(line.value ->> 'quantity' as integer)) as n
        from refunds r, ${linesOf('r')} where r.status in ('SUCCEEDED', 'CLAIMABLE', 'MANUAL') group by r.order_id, line.value ->> 'lineId'),
      too_many as (
        select s.order_id from sent s left join order_lines l on l.order_id = s.order_id and l.id = s.line_id
        where l.id is null or s.n > l.quantity),
      still_open as (
        select l.order_id
        from orders o
          join order_lines l on l.order_id = o.id
          left join sent s on s.order_id = l.order_id and s.line_id = l.id
          left join back b on b.order_id = l.order_id and b.line_id = l.id
        where o.fulfilment_status <> 'UNFULFILLED' and l.quantity > coalesce(s.n, 0) + coalesce(b.n, 0)),
      parcels as (select order_id, count(*) as n from fulfilments group by order_id)
      select o.id as id, o.status as status, o.fulfilment_status as said, coalesce(p.n, 0) as counted
      from orders o left join parcels p on p.order_id = o.id
      where (coalesce(p.n, 0) > 0) <> (o.fulfilment_status <> 'UNFULFILLED')
        or (o.status in ('FULFILLED', 'COMPLETED')) <> (o.fulfilment_status = 'FULFILLED')
        or (o.fulfilment_status = 'PARTIALLY_FULFILLED' and o.status <> 'CONFIRMED')
        or (o.fulfilment_status <> 'UNFULFILLED'
          and (o.fulfilment_status = 'PARTIALLY_FULFILLED') <> (o.id in (select order_id from still_open)))
        or o.id in (select order_id from too_many)
      order by o.id`,
    say: ({ id, status, said, counted }) => `Order ${id} is ${status} and ${said}, which is not what its ${counted} parcels come to`,
  },
  {
    subject: 'tracking of orders',
    broken: sql`
      with last as (
        select order_id, max(id) as id from fulfilments where tracking_number is not null or carrier is not null group by order_id)
      select o.id as id
      from orders o left join last on last.order_id = o.id left join fulfilments f on f.id = last.id
      where o.tracking_number is distinct from f.tracking_number or o.carrier is distinct from f.carrier
      order by o.id`,
    say: ({ id }) => `Order ${id} shows another tracking than its last parcel has`,
  },
  {
    subject: 'search of orders',
    broken: sql`
      select o.id as id, not exists (${orderIndexed}) as unfound, d.day is null as undated
      from orders o left join order_days d
        on d.shop_id = o.shop_id and d.day = o.created_at / 86400000 and o.number between d.first and d.last
      where (not exists (${orderIndexed}) and not exists (select 1 from search_fills where subject = 'ORDERS')) or d.day is null
      order by o.id`,
    say: ({ id, undated }) => (undated ? `Order ${id} is not among those of its day` : `Order ${id} is found by no word`),
  },
]

/** What of orders is kept in two places. */
export const orderFindings = (db: Checked): AsyncGenerator<Finding> => findingsOf(db, rules())
