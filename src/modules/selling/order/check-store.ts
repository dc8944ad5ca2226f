import { sql } from 'drizzle-orm'
import { orderIndexed } from '../../../../db/search.ts'
import { hasUnits, linesIn } from '../../../../db/units-to-send.ts'
import { type CheckContext, checkRules, type Finding, type Rule } from '../../../core/integrity-check.ts'

// Built on demand: only `souk check` needs it.
const rules = (): readonly Rule[] => [
  {
    subject: 'fulfilments',
    broken: sql`
      with sent as (
        select f.order_id, line.value ->> 'lineId' as line_id, sum(cast(line.value ->> 'quantity' as integer)) as n
        from fulfilments f, ${linesIn('f')} group by f.order_id, line.value ->> 'lineId'),
      too_many as (
        select s.order_id from sent s left join order_lines l on l.order_id = s.order_id and l.id = s.line_id
        where l.id is null or s.n > l.quantity),
      parcels as (select order_id, count(*) as n from fulfilments group by order_id)
      select o.id as id, o.status as status, o.fulfilment_status as said, coalesce(p.n, 0) as counted
      from orders o left join parcels p on p.order_id = o.id
      where (o.fulfilment_status = 'UNFULFILLED' and p.n > 0)
        or (o.fulfilment_status = 'PARTIALLY_FULFILLED' and (p.n is null or o.status <> 'CONFIRMED'))
        or (o.status in ('FULFILLED', 'COMPLETED')) <> (o.fulfilment_status = 'FULFILLED')
        or (o.status = 'CONFIRMED' and not ${hasUnits('o', 'FINAL')})
        or (o.fulfilment_status = 'FULFILLED' and ${hasUnits('o', 'FINAL')})
        or o.id in (select order_id from too_many)
      order by o.id`,
    say: ({ id, status, said, counted }) =>
      `Order ${id} is ${status} and ${said}, which is not what its ${counted} parcels and its refunds come to`,
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
    say: ({ id, undated }) => (undated ? `Order ${id} is missing in the list of its day` : `Order ${id} is missing in the search`),
  },
]

/** Finds orders whose derived columns differ from their source rows. */
export const orderFindings = (db: CheckContext): AsyncGenerator<Finding> => checkRules(db, rules())
