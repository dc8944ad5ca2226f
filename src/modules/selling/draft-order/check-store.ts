import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { type CheckContext, checkRules, type Finding, type Rule } from '../../../core/integrity-check.ts'

const draftOfCart = sql.raw(engine === 'sqlite' ? `c.draft ->> 'id'` : `c.draft::json ->> 'id'`)

// Built on demand: only `souk check` needs it. Cart ids are secrets and not shown.
const rules = (): readonly Rule[] => [
  {
    subject: 'draft orders',
    broken: sql`
      select d.id as id from draft_orders d left join carts c on c.id = d.cart_id
      where c.id is null or c.shop_id <> d.shop_id or c.draft is null or ${draftOfCart} <> d.id
      union
      select ${draftOfCart} as id from carts c
      where c.draft is not null and not exists (select 1 from draft_orders d where d.cart_id = c.id)
      order by id`,
    say: ({ id }) => `Draft ${id} and its cart do not refer to each other, so shoppers may change what the shop fixed`,
  },
]

/** Finds drafts that differ from their carts. */
export const draftFindings = (db: CheckContext): AsyncGenerator<Finding> => checkRules(db, rules())
