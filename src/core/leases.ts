import { type Column, eq, gt, isNull, lte, or, type SQL, sql } from 'drizzle-orm'

/**
 * How long somebody has a row to themselves for what is done outside of a write: longer than one call takes at most. A lease is taken by
 * a conditional update before it, and given back in the write of what came of it; whoever dies with one leaves it to run out.
 */
export const leaseMs = 30_000

/** Whoever holds a lease, and until when it counts. */
export const leaseOf = (leaseHolder: string, now: number) => ({ leaseHolder, leaseUntil: now + leaseMs })
export const noLease = { leaseHolder: null, leaseUntil: null } as const

/** Whether a lease counts no more. One further ahead than any is given for comes from a clock that has stepped back since. */
export const isOver = (leaseUntil: number, now: number): boolean => leaseUntil <= now || leaseUntil > now + leaseMs

type Leased = { leaseHolder: string | null; leaseUntil: number | null }
/** Whether nobody but `holder` has a row. */
export const isFree = ({ leaseHolder, leaseUntil }: Leased, holder: string, now: number): boolean =>
  leaseHolder === null || leaseHolder === holder || leaseUntil === null || isOver(leaseUntil, now)

/**
 * That nobody but `holder` holds a row, for the guard of the update that takes its lease; as `isFree` has it.
 * Its placeholders: `holder`, `now`, and `farAhead`, beyond which no lease is given: that one comes from a clock that has stepped back since.
 */
export const leaseIsFree = ({ leaseHolder, leaseUntil }: { readonly leaseHolder: Column; readonly leaseUntil: Column }): SQL | undefined =>
  or(
    isNull(leaseHolder),
    eq(leaseHolder, sql.placeholder('holder')),
    lte(leaseUntil, sql.placeholder('now')),
    gt(leaseUntil, sql.placeholder('farAhead')),
  )
