import { sql } from 'drizzle-orm'
import { customerIndexed } from '../../../../db/search.ts'
import { type CheckContext, checkRules, type Finding, type Rule } from '../../../core/integrity-check.ts'

/** Checks that the stored totals of customers equal those of their orders. */
const rules: readonly Rule[] = [
  {
    subject: 'numbers of customers',
    broken: sql`select customer_id, currency from (
                  select customer_id, currency, 1 as orders, 0 as live_orders, 0 as live_spent,
                    case when confirmed_at is null then 0 else total - refunded_total - gift_card_refunded_total end as spent
                  from orders where customer_id is not null and mode = 'TEST'
                  union all
                  select customer_id, currency, 0, 1,
                    case when confirmed_at is null then 0 else total - refunded_total - gift_card_refunded_total end, 0
                  from orders where customer_id is not null and mode = 'LIVE'
                  union all
                  select customer_id, currency, -orders, -live_orders, -live_spent, -spent from customer_totals
                ) as counted
                group by customer_id, currency
                having sum(orders) <> 0 or sum(spent) <> 0 or sum(live_orders) <> 0 or sum(live_spent) <> 0
                order by customer_id, currency`,
    say: ({ customer_id, currency }) => `${customer_id}: the stored totals in ${currency} differ from those of the orders`,
  },
  {
    subject: 'search of customers',
    broken: sql`
      select c.id as id from customers c
      where not exists (${customerIndexed}) and not exists (select 1 from search_fills where subject = 'CUSTOMERS')
      order by c.id`,
    say: ({ id }) => `Customer ${id} is missing in the search`,
  },
]

/** Checks the stored totals of customers; one finding for each rule, also if it holds. */
export const findCustomerInconsistencies = (db: CheckContext): AsyncGenerator<Finding> => checkRules(db, rules)
