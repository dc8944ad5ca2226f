import { type Column, eq, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm'

/**
 * That nobody but `holder` holds a row, for the guard of the update that takes its lease; as `isFree` of the payments' domain has it.
 * Its placeholders: `holder`, `now`, and `farAhead`, beyond which no lease is given: that one comes from a clock that has stepped back since.
 */
export const leaseIsFree = ({ leaseHolder, leaseUntil }: { readonly leaseHolder: Column; readonly leaseUntil: Column }): SQL | undefined =>
  or(
    isNull(leaseHolder),
    eq(leaseHolder, sql.placeholder('holder')),
    lte(leaseUntil, sql.placeholder('now')),
    gt(leaseUntil, sql.placeholder('farAhead')),
  )
