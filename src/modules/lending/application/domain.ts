import type {
  Documentation,
  lendingApplications,
  lendingDecisions,
  lendingDocuments,
  lendingEvents,
} from '../../../../db/schema/lending.ts'
import { invalidField } from '../../../core/errors.ts'
import type { WithoutUndefined } from '../../../lib/objects.ts'
import { assertReachable, sourcesOf, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { centsOf } from '../../../lib/usd.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { cohortRegions, type KybCohort } from '../../shop/kyb/domain.ts'

export type LendingApplication = typeof lendingApplications.$inferSelect
export type LendingEvent = typeof lendingEvents.$inferSelect
export type LendingDecision = typeof lendingDecisions.$inferSelect
export type LendingDocument = typeof lendingDocuments.$inferSelect
export type LendingStatus = LendingApplication['status']
export type LendingTier = LendingApplication['tier']
export type { Documentation }

/** The states of an application, and the states that may follow each. */
export const lendingTransitions = assertReachable('DRAFT', {
  DRAFT: ['SUBMITTED', 'WITHDRAWN'],
  SUBMITTED: ['UNDER_REVIEW', 'APPROVED', 'REJECTED', 'WITHDRAWN'],
  UNDER_REVIEW: ['APPROVED', 'REJECTED', 'WITHDRAWN'],
  APPROVED: [],
  REJECTED: [],
  WITHDRAWN: [],
} as const satisfies Transitions<LendingStatus>)
export const lendingStatuses = statesOf(lendingTransitions)

/** What an operator may decide. Each decision is the status that it leads to. */
export const decisions = ['APPROVED', 'REJECTED', 'UNDER_REVIEW'] as const satisfies readonly LendingStatus[]
export type Decision = (typeof decisions)[number]

/** The statuses in which an action is allowed. In any other status it answers 409. */
export const allowedIn = {
  update: ['DRAFT'],
  submit: sourcesOf(lendingTransitions, 'SUBMITTED'),
  withdraw: sourcesOf(lendingTransitions, 'WITHDRAWN'),
  APPROVED: sourcesOf(lendingTransitions, 'APPROVED'),
  REJECTED: sourcesOf(lendingTransitions, 'REJECTED'),
  UNDER_REVIEW: sourcesOf(lendingTransitions, 'UNDER_REVIEW'),
  upload: ['DRAFT', 'SUBMITTED', 'UNDER_REVIEW'],
  /** Also applies to a file that replaces an uploaded document. */
  removeDocument: ['DRAFT'],
} as const satisfies Record<string, readonly LendingStatus[]>

export const lendingTiers = ['TIER_1_REFERRAL', 'TIER_2_PARTNER'] as const satisfies readonly LendingTier[]
export const purposeCodes = ['INVENTORY', 'WORKING_CAPITAL', 'EXPANSION', 'EQUIPMENT'] as const satisfies readonly NonNullable<
  LendingApplication['purposeCode']
>[]
export const tier1Partners = [
  'HARBOR_INVENTORY',
  'MERIDIAN_REVENUE',
  'KEYSTONE_SECURED',
  'CARAVAN_TRADE',
] as const satisfies readonly NonNullable<LendingApplication['selectedTier1Partner']>[]
export type Tier1Partner = (typeof tier1Partners)[number]
/** Returns whether a name is one of the partners to which the Tier-1 cohorts are referred. */
export const isTier1Partner = (name: string): name is Tier1Partner => tier1Partners.some((partner) => partner === name)

/** Returns the tier of a cohort: those of the Gulf, Mongolia and the US are referred to Tier-1 partners. */
export const tierOf = (cohort: KybCohort): LendingTier => (cohortRegions[cohort] === null ? 'TIER_2_PARTNER' : 'TIER_1_REFERRAL')

/** Bounds of a request. */
export const requestedAmountUsdMin = 1_000
export const requestedAmountUsdMax = 10_000_000
export const requestedTermMonthsMax = 60

/** The newest decisions and events that the API returns, since their number is not bounded. */
export const historyMax = 1_000

/** Limits the files of unsubmitted applications: each draft may hold up to 15 files of up to 25 MB. */
export const draftsMax = 50

/** Limits of the review queue. */
export const queueLimitDefault = 100
export const queueLimitMax = 500
export const queueTotalMax = 1_000

/** The fields of a draft that a merchant may change, as stored. */
export type ApplicationChange = Pick<
  LendingApplication,
  'requestedAmountUsd' | 'requestedTermMonths' | 'purposeCode' | 'selectedTier1Partner' | 'selectedTier2Partner' | 'documentationCompleted'
>

/**
 * Converts a requested amount to cents.
 * @param dollars within the bounds of the schema
 * @throws AppError INVALID for fractions of a cent
 */
export function requestedCents(dollars: number): number {
  const cents = centsOf(dollars)
  if (cents === undefined) throw invalidField('requestedAmountUsd', 'must have at most two decimals')
  return cents
}

/** Returns only the fields whose value changes. */
export function changesTo(before: LendingApplication, change: Partial<ApplicationChange>): WithoutUndefined<ApplicationChange> {
  const names = Object.keys(change) as (keyof ApplicationChange)[]
  const changed = names.filter((name) => change[name] !== undefined && JSON.stringify(change[name]) !== JSON.stringify(before[name]))
  return Object.fromEntries(changed.map((name) => [name, change[name]])) as WithoutUndefined<ApplicationChange>
}

/** Returns the difference for the audit trail. It leaves out the documentation and the operators' notes. */
export const applicationDifference = (before: LendingApplication | undefined, after: LendingApplication): Difference =>
  differenceOf(before && auditedFields(before), auditedFields(after), [
    'merchantId',
    'cohort',
    'tier',
    'status',
    'requestedAmountUsd',
    'requestedTermMonths',
    'purposeCode',
    'selectedTier1Partner',
    'submittedAt',
    'decidedAt',
    'createdBy',
  ])

/** `queuedAt` repeats `submittedAt`. */
const auditedFields = ({ queuedAt: _, ...application }: LendingApplication) => application
