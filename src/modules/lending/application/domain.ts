import type {
  Documentation,
  lendingApplications,
  lendingDecisions,
  lendingDocuments,
  lendingEvents,
} from '../../../../db/schema/lending.ts'
import { AppError } from '../../../core/errors.ts'
import type { Defined } from '../../../lib/objects.ts'
import { reachable, sourcesOf, statesOf, type Transitions } from '../../../lib/transitions.ts'
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

/** What may become of an application (contract, section 6). */
export const lendingTransitions = reachable('DRAFT', {
  DRAFT: ['SUBMITTED', 'WITHDRAWN'],
  SUBMITTED: ['UNDER_REVIEW', 'APPROVED', 'REJECTED', 'WITHDRAWN'],
  UNDER_REVIEW: ['APPROVED', 'REJECTED', 'WITHDRAWN'],
  APPROVED: [],
  REJECTED: [],
  WITHDRAWN: [],
} as const satisfies Transitions<LendingStatus>)
export const lendingStatuses = statesOf(lendingTransitions)

/** What an operator may decide: each is the state that it leads to. */
export const decisions = ['APPROVED', 'REJECTED', 'UNDER_REVIEW'] as const satisfies readonly LendingStatus[]
export type Decision = (typeof decisions)[number]

/** The states in which something may be asked for; in every other one it is 409. */
export const allowedIn = {
  update: ['DRAFT'],
  submit: sourcesOf(lendingTransitions, 'SUBMITTED'),
  withdraw: sourcesOf(lendingTransitions, 'WITHDRAWN'),
  APPROVED: sourcesOf(lendingTransitions, 'APPROVED'),
  REJECTED: sourcesOf(lendingTransitions, 'REJECTED'),
  UNDER_REVIEW: sourcesOf(lendingTransitions, 'UNDER_REVIEW'),
  handIn: ['DRAFT', 'SUBMITTED', 'UNDER_REVIEW'],
  /** Of a document that was handed in, also by another one that takes its place. */
  takeBack: ['DRAFT'],
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
export const isTier1Partner = (name: string): name is Tier1Partner => tier1Partners.some((one) => one === name)

/** Which lenders a cohort is for: those of the Gulf, Mongolia and the US are referred to Tier-1 partners. */
export const tierOf = (cohort: KybCohort): LendingTier => (cohortRegions[cohort] === null ? 'TIER_2_PARTNER' : 'TIER_1_REFERRAL')

/** Specification, Limits. */
export const requestedAmountUsdMin = 1_000
export const requestedAmountUsdMax = 10_000_000
export const requestedTermMonthsMax = 60

/** Of the decisions and the events of an application, the newest that are shown: nothing else bounds how often one is changed. */
export const shownMax = 1_000

/**
 * So many drafts a merchant may have at a time: more than anybody works at, and a bound of the files, up to 15 of up to 25 MB each, that
 * stand for nothing yet.
 */
export const draftsMax = 50

/** Of the queue. */
export const queueLimitDefault = 100
export const queueLimitMax = 500
export const queueTotalMax = 1_000

/** What a merchant may change of a draft, as it is stored. */
export type ApplicationChange = Pick<
  LendingApplication,
  'requestedAmountUsd' | 'requestedTermMonths' | 'purposeCode' | 'selectedTier1Partner' | 'selectedTier2Partner' | 'documentationCompleted'
>

/**
 * A requested amount in cents.
 * @param dollars within its bounds
 * @throws AppError INVALID for fractions of a cent
 */
export function requestedCents(dollars: number): number {
  const cents = centsOf(dollars)
  if (cents === undefined) throw new AppError('INVALID', 'requestedAmountUsd (body): at most two decimals')
  return cents
}

/** Of what is to be set, that which is another than it is. */
export function changesTo(before: LendingApplication, change: Partial<ApplicationChange>): Defined<ApplicationChange> {
  const names = Object.keys(change) as (keyof ApplicationChange)[]
  const changed = names.filter((name) => change[name] !== undefined && JSON.stringify(change[name]) !== JSON.stringify(before[name]))
  return Object.fromEntries(changed.map((name) => [name, change[name]])) as Defined<ApplicationChange>
}

/** What of an application is on record when it changes: not what documents it has, nor what operators write of it. */
export const applicationDifference = (before: LendingApplication | undefined, after: LendingApplication): Difference =>
  differenceOf(before && untold(before), untold(after), [
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

/** `queuedAt` says no more than `submittedAt` does. */
const untold = ({ queuedAt: _, ...application }: LendingApplication) => application
