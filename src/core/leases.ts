import { type Column, eq, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm'

/**
 * Duration of a lease: longer than one call to another service takes. A conditional update takes the lease before the
 * call; the write of the result releases it. A crashed holder's lease expires.
 */
export const leaseMs = 30_000

/** Returns the columns of a row that `leaseHolder` holds. */
export const leaseOf = (leaseHolder: string, now: number) => ({ leaseHolder, leaseUntil: now + leaseMs })
/** Columns of a row without a lease. */
export const noLease = { leaseHolder: null, leaseUntil: null } as const

/**
 * Returns the latest end that a valid lease can have. It allows that the holder's clock is ahead by the duration of a
 * lease: a request may have read the time before the holder did, and the clocks of two servers differ.
 */
export const latestLeaseEnd = (now: number): number => now + 2 * leaseMs

/** Returns whether a lease has expired. An end that is too far ahead comes from a clock that was set back since. */
export const isLeaseOver = (leaseUntil: number, now: number): boolean => leaseUntil <= now || leaseUntil > latestLeaseEnd(now)

type Leased = { leaseHolder: string | null; leaseUntil: number | null }
/** Returns whether `holder` may take the lease of a row. */
export const isLeaseFree = ({ leaseHolder, leaseUntil }: Leased, holder: string, now: number): boolean =>
  leaseHolder === null || leaseHolder === holder || leaseUntil === null || isLeaseOver(leaseUntil, now)

/**
 * Builds `isLeaseFree` as a condition of the update that takes a lease. Placeholders: `holder`, `now` and `farAhead`,
 * which is `latestLeaseEnd`.
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
