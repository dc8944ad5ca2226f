/** The figures of the network, each in one shape, whatever its route answers. */
import type { Schema } from '../../lib/api/api.ts'

export const kpiNames = ['gmv', 'confirmed-orders', 'registered-users', 'verified-shops', 'created-products', 'refund-rate'] as const
export type KpiName = (typeof kpiNames)[number]
export const isKpi = (name: string | undefined): name is KpiName => kpiNames.some((one) => one === name)

export type Unit = 'count' | 'usd' | 'part'
export const unitOf = (name: KpiName): Unit => (name === 'gmv' ? 'usd' : name === 'refund-rate' ? 'part' : 'count')

/** What a figure is made of: one processor, role, cohort or status. */
export type Part = {
  readonly name: string
  /** Null where nothing can be said, such as the rate of what sold nothing. */
  readonly value: number | null
  /** Of a rate: what it is of, in dollars. */
  readonly refundedUsd?: number
  readonly confirmedUsd?: number
}
export type Kpi = {
  readonly startDate: string
  readonly endDate: string
  readonly total: number | null
  readonly previous: number | null
  /** By how much it is more than before, as a part of one; null where that says nothing. */
  readonly change: number | null
  /** The largest first. */
  readonly parts: readonly Part[]
  readonly series: readonly { readonly date: string; readonly value: number | null }[]
  /** So many sums are not in it yet, since nobody knows their rate. */
  readonly unpriced: number
  /** Of a rate: what it is of. */
  readonly of?: { readonly refundedUsd: number; readonly confirmedUsd: number }
}

const largestFirst = (a: Part, b: Part): number => (b.value ?? -1) - (a.value ?? -1)

export function countedKpi(answer: Schema<'Kpi'> | Schema<'Gmv'>): Kpi {
  const { startDate, endDate, total, previousTotal, percentChange, breakdown, series } = answer
  return {
    ...{ startDate, endDate, total, series },
    previous: previousTotal,
    change: percentChange === null ? null : percentChange / 100,
    parts: Object.entries(breakdown)
      .map(([name, value]) => ({ name, value }))
      .toSorted(largestFirst),
    unpriced: 'unpriced' in answer ? answer.unpriced : 0,
  }
}

/** A rate of a rate is no figure: of how it was before, only what it was is told. @param before the answer for as many days before */
export function rateKpi(answer: Schema<'RefundRate'>, before: Schema<'RefundRate'> | undefined): Kpi {
  const { startDate, endDate, network, processors, series, unpriced } = answer
  return {
    ...{ startDate, endDate, series, unpriced },
    total: network.rate,
    previous: before?.network.rate ?? null,
    change: null,
    parts: processors
      .map(({ processor, rate, refundedUsd, confirmedUsd }) => ({ name: processor, value: rate, refundedUsd, confirmedUsd }))
      .toSorted(largestFirst),
    of: { refundedUsd: network.refundedUsd, confirmedUsd: network.confirmedUsd },
  }
}

/** Of the parts of which there is anything, the first ones, and how many more there are. */
export function firstParts(parts: readonly Part[], max: number): { readonly shown: readonly Part[]; readonly more: number } {
  const some = parts.filter(({ value, confirmedUsd }) => value !== null && (value > 0 || (confirmedUsd ?? 0) > 0))
  // One more row takes no more room than saying that there is one more.
  const shown = some.length <= max + 1 ? some : some.slice(0, max)
  return { shown, more: some.length - shown.length }
}

/** A part of the whole; null of nothing. */
export const shareOf = (value: number | null, total: number | null): number | null => (value === null || !total ? null : value / total)
