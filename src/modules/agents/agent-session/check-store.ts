import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { type CheckContext, checkRules, type Finding, type Rule } from '../../../core/integrity-check.ts'

const profileOf = (row: 'c' | 'o') => sql.raw(`coalesce(${row}.agent${engine === 'sqlite' ? '' : '::json'} ->> 'profile', '')`)

// Built on demand: only `souk check` needs it. Ids of sessions and carts are secrets and not shown.
const rules = (): readonly Rule[] => [
  {
    subject: 'sessions of agents',
    broken: sql`
      select shop, order_id, what from (
        select s.shop_id as shop, o.id as order_id, case
          when c.agent is null or ${profileOf('c')} <> coalesce(s.profile, '') or c.shop_id <> s.shop_id
            then 'and its cart name different platforms or shops'
          when o.id is not null and (o.agent is null or ${profileOf('o')} <> coalesce(s.profile, ''))
            then 'and its order name different platforms'
          when s.canceled_at is not null and o.confirmed_at is not null then 'is canceled for its platform, but its order was sold'
        end as what
        from agent_sessions s join carts c on c.id = s.cart_id left join orders o on o.cart_id = c.id) as found
      where what is not null
      order by shop, order_id`,
    say: ({ shop, order_id, what }) => `A session of an agent in ${shop}${order_id === null ? '' : ` (order ${order_id})`} ${what}`,
  },
]

/** Finds sessions that disagree with their cart or order. */
export const agentSessionFindings = (db: CheckContext): AsyncGenerator<Finding> => checkRules(db, rules())
