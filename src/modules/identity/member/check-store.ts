import { sql } from 'drizzle-orm'
import { type CheckContext, checkRules, type Finding, type Rule } from '../../../core/integrity-check.ts'

/** Checks that each shop has an owner, that each member has an account, and that each invitation has an address. */
const rules: readonly Rule[] = [
  {
    subject: 'owners of shops',
    broken: sql`select id from shops
                where not exists (select 1 from staff where staff.shop_id = shops.id and staff.role = 'OWNER' and staff.user_id is not null)
                order by id`,
    say: ({ id }) => `${id}: has no OWNER`,
  },
  {
    subject: 'staff of shops',
    broken: sql`select staff.id from staff left join users on users.id = staff.user_id
                where (staff.user_id is null and (staff.email is null or staff.invited_at is null or staff.joined_at is not null))
                   or (staff.user_id is not null and (staff.email is not null or staff.joined_at is null or users.id is null))
                order by staff.id`,
    say: ({ id }) => `${id}: neither an invitation nor a person with an account`,
  },
]

/** Checks the rules of staff; one finding for each rule, also if it holds. */
export const findStaffInconsistencies = (db: CheckContext): AsyncGenerator<Finding> => checkRules(db, rules)
