import type { methodologies } from '../../../../db/schema/trust.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { assertReachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'

export type Methodology = typeof methodologies.$inferSelect
export type MethodologyStatus = Methodology['status']

export const methodologyTransitions = assertReachable('ACTIVE', {
  ACTIVE: ['SUPERSEDED', 'REVOKED'],
  SUPERSEDED: ['REVOKED'],
  REVOKED: [],
} as const satisfies Transitions<MethodologyStatus>)
export const methodologyStatuses = statesOf(methodologyTransitions)

export const methodologyVersionMax = 100

/**
 * Checks the part of a document's address after https://.
 * @returns the problem in words that complete "NAME must …"; undefined if there is none
 */
export function urlProblem(text: string): string | undefined {
  if (!/^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/.test(text) || /%(?![0-9a-f]{2})/i.test(text))
    return 'contain only URL characters: percent-encode others as UTF-8, and write international host names as xn--…'
  const [, authority = ''] = /^https:\/\/([^/?#]*)/i.exec(text) ?? []
  if (authority.includes('@')) return 'not contain a user name or password'
  const [, host = '', port] = /^(\[.*\]|[^:]*)(?::(.*))?$/.exec(authority) ?? []
  if (host === '' || URL.parse(`https://${host}/`) === null) return 'have a host after https://'
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) > 0 && URL.parse(`https://${host}:${port}/`)))
    return 'have no port, or one between 1 and 65535'
  return undefined
}

/** Returns the difference for the audit trail. All of it is public. */
export const methodologyDifference = (before: Methodology | undefined, after: Methodology): Difference =>
  differenceOf(before, after, ['lenderId', 'methodologyVersion', 'contentHash', 'documentUrl', 'status', 'registeredAt'])

/** Renders a methodology as the public sees it. */
export const publicMethodologyView = ({ lenderId, methodologyVersion, contentHash, status, documentUrl, registeredAt }: Methodology) => ({
  lenderId,
  version: methodologyVersion,
  contentHash,
  status,
  documentUrl,
  ...isoTimes({ registeredAt }),
})
export type PublicMethodologyView = ReturnType<typeof publicMethodologyView>

/** Renders a methodology as operators see it. */
export const methodologyView = (methodology: Methodology) => ({
  id: methodology.id,
  ...publicMethodologyView(methodology),
  ...isoTimes(pick(methodology, 'updatedAt')),
  /** The version of the record, for its `ETag`. `version` is the lender's name of the methodology. */
  recordVersion: methodology.version,
})
export type MethodologyView = ReturnType<typeof methodologyView>
