import type { methodologies } from '../../../db/schema/trust.ts'
import { isoTimes, pick } from '../../lib/records.ts'
import { reachable, statesOf, type Transitions } from '../../lib/transitions.ts'
import { type Difference, differenceOf } from '../audit/domain.ts'

export type Methodology = typeof methodologies.$inferSelect
export type MethodologyStatus = Methodology['status']

/** What may become of a version of a methodology. */
export const methodologyTransitions = reachable('ACTIVE', {
  ACTIVE: ['SUPERSEDED', 'REVOKED'],
  SUPERSEDED: ['REVOKED'],
  REVOKED: [],
} as const satisfies Transitions<MethodologyStatus>)
export const methodologyStatuses = statesOf(methodologyTransitions)

export const methodologyVersionMax = 100

/** What of a methodology is on record: all of it is public. */
export const methodologyDifference = (before: Methodology | undefined, after: Methodology): Difference =>
  differenceOf(before, after, ['lenderId', 'methodologyVersion', 'contentHash', 'documentUrl', 'status', 'registeredAt'])

/** A methodology as the public sees it. */
export const publicMethodologyView = ({ lenderId, methodologyVersion, contentHash, status, documentUrl, registeredAt }: Methodology) => ({
  lenderId,
  version: methodologyVersion,
  contentHash,
  status,
  documentUrl,
  ...isoTimes({ registeredAt }),
})
export type PublicMethodologyView = ReturnType<typeof publicMethodologyView>

/** The same as operators see it. */
export const methodologyView = (methodology: Methodology) => ({
  id: methodology.id,
  ...publicMethodologyView(methodology),
  ...isoTimes(pick(methodology, 'updatedAt')),
  /** Of the record, for its `ETag`: `version` is the lender's own name of it. */
  recordVersion: methodology.version,
})
export type MethodologyView = ReturnType<typeof methodologyView>
