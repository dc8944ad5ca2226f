import type { kybEvents, kybRecords, Owner } from '../../../../db/schema/kyb.ts'
import { AppError } from '../../../core/errors.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { reachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'

export type KybRecord = typeof kybRecords.$inferSelect
/** What a business is called, and by which record. */
export type Business = Pick<KybRecord, 'id' | 'legalName'>
export type KybEvent = typeof kybEvents.$inferSelect
export type KybStatus = KybRecord['status']
export type KybCohort = KybRecord['cohort']
/** Where a cohort does its business, as far as anything depends on it. */
export type KybRegion = 'GULF' | 'MONGOLIA' | 'US'

/** What may become of a record. One that was rejected stays so: the merchant files another. */
export const kybTransitions = reachable('PENDING', {
  PENDING: ['APPROVED', 'REJECTED'],
  APPROVED: [],
  REJECTED: [],
} as const satisfies Transitions<KybStatus>)
export const kybStatuses = statesOf(kybTransitions)
export const kybDecisions = kybTransitions.PENDING
/** In which order records are listed, by when they were filed. */
export const kybOrders = ['newest', 'oldest'] as const
export type KybOrder = (typeof kybOrders)[number]
export type KybDecision = (typeof kybDecisions)[number]

/** The kinds of business there are, each with its region; null for those that no choice of a processor depends on. */
export const cohortRegions = {
  UAE_MAINLAND: 'GULF',
  UAE_FREEZONE: 'GULF',
  KSA_COMPANY: 'GULF',
  KUWAIT_WLL: 'GULF',
  MN_LLC: 'MONGOLIA',
  MN_SOLE: 'MONGOLIA',
  US_COMPANY: 'US',
  US_SOLE_PROP: 'US',
  UK_LTD: null,
  EU_COMPANY: null,
  SG_PTE: null,
  INTL_OTHER: null,
} as const satisfies Record<KybCohort, KybRegion | null>
export const kybCohorts = Object.keys(cohortRegions) as [KybCohort, ...KybCohort[]]

export const ownersMax = 50
export const shareMax = 100
/** Of a share in percent. */
export const shareDecimals = 4
const unitsPerPercent = 10 ** shareDecimals

/**
 * Owners as they are stored: shares come in percent and are kept as whole ten-thousandths of one, so that they add up exactly.
 * @throws AppError INVALID for a share of more decimals, and when all are more than the whole
 */
export function ownersOf(owners: readonly Owner[]): Owner[] {
  const kept = owners.map(({ name, share }) => ({ name, share: Math.round(share * unitsPerPercent) }))
  // A number of so many decimals is the one nearest to that quotient, and no other is.
  if (kept.some(({ share }, nth) => share / unitsPerPercent !== owners[nth]?.share))
    throw new AppError('INVALID', `owners.share (body): at most ${shareDecimals} decimals`)
  if (kept.reduce((sum, { share }) => sum + share, 0) > shareMax * unitsPerPercent)
    throw new AppError('INVALID', `owners.share (body): all together at most ${shareMax}`)
  return kept
}

/** What a merchant files. */
export type KybInput = Pick<KybRecord, 'cohort' | 'legalName' | 'registrationNumber' | 'country' | 'owners'>

/** What of a record is on record when it changes. The names are persons', of a sole trader all of it is. */
export const kybDifference = (before: KybRecord | undefined, after: KybRecord): Difference =>
  differenceOf(before, after, ['merchantId', 'status', 'cohort', 'country', 'decidedAt'])

/** A record as its merchant sees it. */
export const kybView = (record: KybRecord) => ({
  ...pick(record, 'id', 'merchantId', 'status', 'cohort', 'legalName', 'registrationNumber', 'country'),
  owners: record.owners.map(({ name, share }) => ({ name, share: share / unitsPerPercent })),
  reason: record.reason,
  ...isoTimes(pick(record, 'decidedAt', 'createdAt', 'updatedAt')),
  version: record.version,
})
export type KybView = ReturnType<typeof kybView>

/** The same as operators see it: with what was done, by whom and why, in its order. */
export const adminKybView = (record: KybRecord, events: readonly KybEvent[]) => ({
  ...kybView(record),
  events: events.map(({ type, at, actor, reason }) => ({ type, ...isoTimes({ at }), actor, reason })),
})
export type AdminKybView = ReturnType<typeof adminKybView>
