/** What an operator types of an application, and what of it the API is sent. */

import type { Schema } from '../../lib/api/api.ts'
import type { LendingStatus } from '../../lib/format/lending-names.ts'
import { parseMoney } from '../../lib/forms/amounts.ts'

export type Assessment = Schema<'CreditAssessment'>
export type Decision = Schema<'AdminLendingApplication'>['decisions'][number]['decision']

const next: Readonly<Record<LendingStatus, readonly Decision[]>> = {
  DRAFT: [],
  SUBMITTED: ['UNDER_REVIEW', 'APPROVED', 'REJECTED'],
  // Once more: with another reason or reference.
  UNDER_REVIEW: ['APPROVED', 'REJECTED', 'UNDER_REVIEW'],
  APPROVED: [],
  REJECTED: [],
  WITHDRAWN: [],
}
/** What may be decided of an application as it is. souk decides; this is what is offered. */
export const decisionsIn = (status: LendingStatus): readonly Decision[] => next[status]

/** Dollars as the API takes them, of what was typed: at most two decimals, read as cents first; undefined where it is none. */
export function usdOf(text: string): number | undefined {
  const cents = parseMoney(text, 'USD')?.amount
  return cents === undefined || cents < 0 ? undefined : Number(`${cents}e-2`)
}

export type Figures = {
  readonly cohort: Assessment['cohort']
  readonly revenue: string
  readonly collateral: string
  readonly risk: Assessment['operationalRisk']
  readonly flags: readonly string[]
}
export const risks = ['LOW', 'MEDIUM', 'HIGH'] as const satisfies readonly Assessment['operationalRisk'][]

/** The figures as the API takes them, or which of them are no amounts. */
export function assessmentOf({
  cohort,
  revenue,
  collateral,
  risk,
  flags,
}: Figures): { body: Assessment } | { wrong: readonly ('revenue' | 'collateral')[] } {
  const [monthlyAvgRevenueUsd, verifiedCollateralUsd] = [usdOf(revenue), usdOf(collateral)]
  if (monthlyAvgRevenueUsd === undefined || verifiedCollateralUsd === undefined)
    return {
      wrong: [
        ...(monthlyAvgRevenueUsd === undefined ? (['revenue'] as const) : []),
        ...(verifiedCollateralUsd === undefined ? (['collateral'] as const) : []),
      ],
    }
  return { body: { cohort, monthlyAvgRevenueUsd, verifiedCollateralUsd, operationalRisk: risk, hardComplianceFlags: [...flags] } }
}

/** The documents of which the merchant says something and of which no file is here. What they say is free in its form. */
export function withoutFile(said: Schema<'AdminLendingApplication'>['documentationCompleted'], keys: readonly string[]) {
  const items: unknown = said?.['items']
  if (!Array.isArray(items)) return []
  return items.flatMap((item: unknown) => {
    const { key, status } = (item ?? {}) as { key?: unknown; status?: unknown }
    return typeof key === 'string' && !keys.includes(key) ? [{ key, status: typeof status === 'string' ? status : '' }] : []
  })
}

/** Pictures are shown on the page; whatever else there is may hold more than a picture, and is taken along. */
export const isPicture = (mimeType: string): boolean => mimeType === 'image/jpeg' || mimeType === 'image/png'
