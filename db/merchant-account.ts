import { and, type SQL, sql } from 'drizzle-orm'
import { prepare, valuesOf } from './prepared.ts'
import { users } from './schema/people.ts'

/** Matches accounts of `users` that are merchants: by their role, or because they opened a shop as a super admin. */
export const isMerchantAccount: SQL = sql`(users.role = 'MERCHANT' or exists (select 1 from shops where shops.merchant_id = users.id))`

/** Finds a merchant's account. */
export const merchantById = prepare((queries) =>
  queries
    .select({ id: users.id })
    .from(users)
    .where(and(valuesOf(users, ['id']), isMerchantAccount))
    .limit(1),
)
