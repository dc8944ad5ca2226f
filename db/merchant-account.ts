import { type SQL, sql } from 'drizzle-orm'

/** Matches accounts of `users` that are merchants: by their role, or because they opened a shop as a super admin. */
export const isMerchantAccount: SQL = sql`(users.role = 'MERCHANT' or exists (select 1 from shops where shops.merchant_id = users.id))`
