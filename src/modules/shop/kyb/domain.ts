import type { kybEvents, kybRecords, Owner } from '../../../../db/schema/kyb.ts'
import { invalidField } from '../../../core/errors.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { assertReachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'

export type KybRecord = typeof kybRecords.$inferSelect
/** A business's name and KYB record. */
export type Business = Pick<KybRecord, 'id' | 'legalName'>
export type KybEvent = typeof kybEvents.$inferSelect
export type KybStatus = KybRecord['status']
export type KybCohort = KybRecord['cohort']
/** The regions that processors distinguish. */
type KybRegion = 'GULF' | 'MONGOLIA' | 'US'

/** A rejected record stays so: the merchant files another. */
export const kybTransitions = assertReachable('PENDING', {
  PENDING: ['APPROVED', 'REJECTED'],
  APPROVED: [],
  REJECTED: [],
} as const satisfies Transitions<KybStatus>)
export const kybStatuses = statesOf(kybTransitions)
export const kybDecisions = kybTransitions.PENDING
/** Sort orders by filing date. */
export const kybOrders = ['newest', 'oldest'] as const
export type KybOrder = (typeof kybOrders)[number]
export type KybDecision = (typeof kybDecisions)[number]

/** Kinds of business with their region; null if no processor depends on it. */
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
/** Decimals of a share in percent. */
export const shareDecimals = 4
const unitsPerPercent = 10 ** shareDecimals

/**
 * Stores shares as whole ten-thousandths of a percent, so that they add up exactly.
 * @throws AppError INVALID for more decimals, and for a sum above 100
 */
export function parseOwners(owners: readonly Owner[]): Owner[] {
  const stored = owners.map(({ name, share }) => ({ name, share: Math.round(share * unitsPerPercent) }))
  // Exact: a number with this many decimals is the double nearest to the quotient.
  const inexact = stored.findIndex(({ share }, nth) => share / unitsPerPercent !== owners[nth]?.share)
  if (inexact >= 0) throw invalidField(`owners.${inexact}.share`, `must have at most ${shareDecimals} decimals`)
  if (stored.reduce((sum, { share }) => sum + share, 0) > shareMax * unitsPerPercent)
    throw invalidField('owners', `must have shares that add up to at most ${shareMax}`)
  return stored
}

/** The fields that a merchant files. */
export type KybInput = Pick<KybRecord, 'cohort' | 'legalName' | 'registrationNumber' | 'country' | 'owners'>

/** Returns the audited difference, without names: for sole traders they are personal data. */
export const kybDifference = (before: KybRecord | undefined, after: KybRecord): Difference =>
  differenceOf(before, after, ['merchantId', 'status', 'cohort', 'country', 'decidedAt'])

/** Renders a record for its merchant. */
export const kybView = (record: KybRecord) => ({
  ...pick(record, 'id', 'merchantId', 'status', 'cohort', 'legalName', 'registrationNumber', 'country'),
  owners: record.owners.map(({ name, share }) => ({ name, share: share / unitsPerPercent })),
  reason: record.reason,
  ...isoTimes(pick(record, 'decidedAt', 'createdAt', 'updatedAt')),
  version: record.version,
})
export type KybView = ReturnType<typeof kybView>

/** Renders a record for operators, with its history. */
export const adminKybView = (record: KybRecord, events: readonly KybEvent[]) => ({
  ...kybView(record),
  events: events.map(({ type, at, actor, reason }) => ({ type, ...isoTimes({ at }), actor, reason })),
})
export type AdminKybView = ReturnType<typeof adminKybView>
