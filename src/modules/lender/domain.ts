import type { lenderStatusHistory, lenders } from '../../../db/schema/lending.ts'
import { isoTimes, pick } from '../../lib/records.ts'
import { reachable, statesOf, type Transitions } from '../../lib/transitions.ts'
import { type Difference, differenceOf } from '../audit/domain.ts'

export type Lender = typeof lenders.$inferSelect
export type LenderStatus = Lender['status']
export type LenderStatusEntry = typeof lenderStatusHistory.$inferSelect

/** What may become of a lender. One that is archived stays so. */
export const lenderTransitions = reachable('PENDING_KYB', {
  PENDING_KYB: ['ACTIVE', 'ARCHIVED'],
  ACTIVE: ['SUSPENDED'],
  SUSPENDED: ['ACTIVE', 'ARCHIVED'],
  ARCHIVED: [],
} as const satisfies Transitions<LenderStatus>)
export const lenderStatuses = statesOf(lenderTransitions)

export const displayNameMax = 200

/** What of a lender is on record when it changes: all of it is shown to the public. */
export const lenderDifference = (before: Lender | undefined, after: Lender): Difference =>
  differenceOf(before, after, ['displayName', 'status'])

/** A lender as operators see it: with what it was from when on, in its order. */
export const lenderView = (lender: Lender, history: readonly LenderStatusEntry[]) => ({
  ...pick(lender, 'id', 'displayName', 'status'),
  statusHistory: history.map(({ status, at, actor }) => ({ status, ...isoTimes({ at }), actor })),
  ...isoTimes(pick(lender, 'createdAt', 'updatedAt')),
  version: lender.version,
})
export type LenderView = ReturnType<typeof lenderView>
