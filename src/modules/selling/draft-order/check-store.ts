import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { type Checked, type Finding, findingsOf, type Rule } from '../../../core/integrity-check.ts'

const draftOfCart = sql.raw(engine === 'sqlite' ? `c.draft ->> 'id'` : `c.draft::json ->> 'id'`)

// Asked for by `souk check` alone, and so made by it. The ids of carts are secrets.
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
    say: ({ id }) => `Draft ${id} and its cart do not know each other: shoppers may change what its shop has fixed`,
  },
]

/** What of drafts is kept in two places. */
export const draftFindings = (db: Checked): AsyncGenerator<Finding> => findingsOf(db, rules())
