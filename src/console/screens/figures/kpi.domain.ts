/** One shape for all figures. */
import type { Schema } from '../../lib/api/api.ts'

export const kpiNames = ['gmv', 'confirmed-orders', 'registered-users', 'verified-shops', 'created-products', 'refund-rate'] as const
export type KpiName = (typeof kpiNames)[number]
/** Returns whether a part of the URL names a figure. */
export const isKpi = (name: string | undefined): name is KpiName => kpiNames.some((kpiName) => kpiName === name)

type Unit = 'count' | 'usd' | 'part'
/** Returns the unit of a figure. `part`: a fraction, shown as a percentage. */
export const unitOf = (name: KpiName): Unit => (name === 'gmv' ? 'usd' : name === 'refund-rate' ? 'part' : 'count')

/** A part of a figure: a processor, role, cohort or status. */
export type KpiPart = {
  readonly name: string
  /** Null if undefined, such as a refund rate without sales. */
  readonly value: number | null
  /** In dollars, for rates. */
  readonly refundedUsd?: number
  readonly confirmedUsd?: number
}
export type Kpi = {
  readonly startDate: string
  readonly endDate: string
  readonly total: number | null
  readonly previous: number | null
  /** Change as a fraction; null if undefined. */
  readonly change: number | null
  /** Largest first. */
  readonly parts: readonly KpiPart[]
  readonly series: readonly { readonly date: string; readonly value: number | null }[]
  /** Number of amounts without an exchange rate, which are not included. */
  readonly unpriced: number
  /** In dollars, for rates. */
  readonly amounts?: { readonly refundedUsd: number; readonly confirmedUsd: number }
}

const largestFirst = (a: KpiPart, b: KpiPart): number => (b.value ?? -1) - (a.value ?? -1)

/** Converts a response about counts or dollars. Its change in percent becomes a fraction. */
export function toCountKpi(response: Schema<'Kpi'> | Schema<'Gmv'>): Kpi {
  const { startDate, endDate, total, previousTotal, percentChange, breakdown, series } = response
  return {
    ...{ startDate, endDate, total, series },
    previous: previousTotal,
    change: percentChange === null ? null : percentChange / 100,
    parts: Object.entries(breakdown)
      .map(([name, value]) => ({ name, value }))
      .toSorted(largestFirst),
    unpriced: 'unpriced' in response ? response.unpriced : 0,
  }
}

/**
 * Converts a response about a rate. It has no change, because a change of a rate misleads.
 * @param previous the response for the preceding days
 */
export function toRateKpi(response: Schema<'RefundRate'>, previous: Schema<'RefundRate'> | undefined): Kpi {
  const { startDate, endDate, network, processors, series, unpriced } = response
  return {
    ...{ startDate, endDate, series, unpriced },
    total: network.rate,
    previous: previous?.network.rate ?? null,
    change: null,
    parts: processors
      .map(({ processor, rate, refundedUsd, confirmedUsd }) => ({ name: processor, value: rate, refundedUsd, confirmedUsd }))
      .toSorted(largestFirst),
    amounts: { refundedUsd: network.refundedUsd, confirmedUsd: network.confirmedUsd },
  }
}

/** Returns the first parts that are not empty, and how many follow. */
export function firstParts(parts: readonly KpiPart[], max: number): { readonly shown: readonly KpiPart[]; readonly more: number } {
  const nonEmpty = parts.filter(({ value, confirmedUsd }) => value !== null && (value > 0 || (confirmedUsd ?? 0) > 0))
  // One more row takes as much room as the text "1 more".
  const shownBars = nonEmpty.length <= max + 1 ? nonEmpty : nonEmpty.slice(0, max)
  return { shown: shownBars, more: nonEmpty.length - shownBars.length }
}

/** Returns a fraction; null without a total. */
export const shareOf = (value: number | null, total: number | null): number | null => (value === null || !total ? null : value / total)
