/** The operator's values of an application and their bodies. */

import type { Schema } from '../../lib/api/api.ts'
import type { LendingStatus } from '../../lib/format/lending-names.ts'
import { parseMoney } from '../../lib/forms/amounts.ts'

export type Assessment = Schema<'CreditAssessment'>
export type Decision = Schema<'AdminLendingApplication'>['decisions'][number]['decision']

const nextDecisions: Readonly<Record<LendingStatus, readonly Decision[]>> = {
  DRAFT: [],
  SUBMITTED: ['UNDER_REVIEW', 'APPROVED', 'REJECTED'],
  // Repeated with another reason or reference.
  UNDER_REVIEW: ['APPROVED', 'REJECTED', 'UNDER_REVIEW'],
  APPROVED: [],
  REJECTED: [],
  WITHDRAWN: [],
}
/** Returns the decisions to offer; the API checks them. */
export const decisionsIn = (status: LendingStatus): readonly Decision[] => nextDecisions[status]

/** Parses dollars with at most two decimals, exactly via cents; undefined if invalid. */
export function parseUsd(text: string): number | undefined {
  const cents = parseMoney(text, 'USD')?.amount
  return cents === undefined || cents < 0 ? undefined : Number(`${cents}e-2`)
}

export type CreditFigures = {
  readonly cohort: Assessment['cohort']
  readonly revenue: string
  readonly collateral: string
  readonly risk: Assessment['operationalRisk']
  readonly flags: readonly string[]
}
export const risks = ['LOW', 'MEDIUM', 'HIGH'] as const satisfies readonly Assessment['operationalRisk'][]

/** Builds the assessment, or returns the wrong fields. */
export function parseAssessment({
  cohort,
  revenue,
  collateral,
  risk,
  flags,
}: CreditFigures): { body: Assessment } | { wrongFields: readonly ('revenue' | 'collateral')[] } {
  const [monthlyAvgRevenueUsd, verifiedCollateralUsd] = [parseUsd(revenue), parseUsd(collateral)]
  if (monthlyAvgRevenueUsd === undefined || verifiedCollateralUsd === undefined)
    return {
      wrongFields: [
        ...(monthlyAvgRevenueUsd === undefined ? (['revenue'] as const) : []),
        ...(verifiedCollateralUsd === undefined ? (['collateral'] as const) : []),
      ],
    }
  return { body: { cohort, monthlyAvgRevenueUsd, verifiedCollateralUsd, operationalRisk: risk, hardComplianceFlags: [...flags] } }
}

/** Returns documents that the merchant mentions without a file. The field's form is free. */
export function withoutFile(documentation: Schema<'AdminLendingApplication'>['documentationCompleted'], keys: readonly string[]) {
  const items: unknown = documentation?.['items']
  if (!Array.isArray(items)) return []
  return items.flatMap((item: unknown) => {
    const { key, status } = (item ?? {}) as { key?: unknown; status?: unknown }
    return typeof key === 'string' && !keys.includes(key) ? [{ key, status: typeof status === 'string' ? status : '' }] : []
  })
}

/** Returns whether a file can be shown. Other types can contain active content and are downloaded. */
export const isPicture = (mimeType: string): boolean => mimeType === 'image/jpeg' || mimeType === 'image/png'
