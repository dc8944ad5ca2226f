import { type Column, eq, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm'

/**
 * Duration of a lease: longer than one call to another service takes. A conditional update takes the lease before the
 * call; the write of the result releases it. A crashed holder's lease expires.
 */
export const leaseMs = 30_000

/** Columns of a row that `leaseHolder` holds. */
export const leaseOf = (leaseHolder: string, now: number) => ({ leaseHolder, leaseUntil: now + leaseMs })
export const noLease = { leaseHolder: null, leaseUntil: null } as const

/** Whether a lease has expired. An end that is too far ahead comes from a clock that was set back since. */
export const isLeaseOver = (leaseUntil: number, now: number): boolean => leaseUntil <= now || leaseUntil > now + leaseMs

type Leased = { leaseHolder: string | null; leaseUntil: number | null }
/** Whether `holder` may take the lease of a row. */
export const isLeaseFree = ({ leaseHolder, leaseUntil }: Leased, holder: string, now: number): boolean =>
  leaseHolder === null || leaseHolder === holder || leaseUntil === null || isLeaseOver(leaseUntil, now)

/**
 * `isLeaseFree` as a condition of the update that takes a lease. Placeholders: `holder`, `now` and `farAhead`, the
 * latest valid end.
 */
export const leaseIsFreeCondition = ({
  leaseHolder,
  leaseUntil,
}: {
  readonly leaseHolder: Column
  readonly leaseUntil: Column
}): SQL | undefined =>
  or(
    isNull(leaseHolder),
    eq(leaseHolder, sql.placeholder('holder')),
    lte(leaseUntil, sql.placeholder('now')),
    gt(leaseUntil, sql.placeholder('farAhead')),
  )
