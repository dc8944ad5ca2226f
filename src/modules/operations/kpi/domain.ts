import type { kpiDays, kpiDeltas } from '../../../../db/schema/kpi.ts'
import type { unifiedTransactions } from '../../../../db/schema/ledger.ts'
import type { orderLines, orders } from '../../../../db/schema/selling.ts'
import { invalidField } from '../../../core/errors.ts'
import { dayNumberOf, isDay, startOfDay } from '../../../lib/day.ts'
import { usdOf } from '../../../lib/usd.ts'
import { dayNumberIn } from '../../../lib/zone-days.ts'
import { usdCentsOf } from '../../payments/fx/domain.ts'

/** Groups of figures that are backfilled separately, so that one is available before the other. */
export const kpiParts = ['NETWORK', 'SHOPS'] as const
export type KpiPart = (typeof kpiParts)[number]

/** A change of a figure, appended in the write of its cause. */
export type Delta = typeof kpiDeltas.$inferSelect
export type Kpi = Delta['kpi']
/** Figures of live shops. Those of test shops have the prefix TEST_. */
export type SalesKpi = 'ORDERS' | 'GMV' | 'REFUNDS' | 'UNPRICED' | 'MERCHANT_CENTS' | 'MERCHANT_ORDERS' | 'PRODUCT_CENTS' | 'PRODUCT_UNITS'
type Mode = typeof orders.$inferSelect.mode
/** The orders that a dashboard counts. */
export const salesModes = ['LIVE', 'TEST', 'ALL'] as const
export type SalesMode = (typeof salesModes)[number]

/** Returns the figure of a mode. */
export const inMode = (kpi: SalesKpi, mode: Mode): Kpi => (mode === 'TEST' ? `TEST_${kpi}` : kpi)
/** Returns the figures that a dashboard of a mode adds up. */
export const inModes = (kpis: readonly SalesKpi[], mode: SalesMode): Kpi[] =>
  (mode === 'ALL' ? (['LIVE', 'TEST'] as const) : [mode]).flatMap((single) => kpis.map((kpi) => inMode(kpi, single)))
/** Removes the mode from a figure. */
export const withoutMode = (kpi: Kpi): Kpi => kpi.replace(/^TEST_/, '') as Kpi

/** A sum of deltas over a span of days from `day` on. Each delta is an exact number; a sum may exceed one. */
export type KpiSum = Omit<typeof kpiDays.$inferSelect, 'value'> & { readonly value: bigint }

/** Splits a sum into the fewest exact numbers. None for zero. */
export function amountsOf(sum: bigint): number[] {
  const largest = BigInt(Number.MAX_SAFE_INTEGER)
  const amounts: number[] = []
  for (let remaining = sum; remaining !== 0n; ) {
    const amount = remaining > largest ? largest : remaining < -largest ? -largest : remaining
    amounts.push(Number(amount))
    remaining -= amount
  }
  return amounts
}

/** The lengths of sums in days, so that a long window needs few rows. Each is a multiple of the next. */
const spans = [64, 8, 1] as const

/** Consecutive sums of `span` days, from `from` up to and excluding `to`. */
export type SpanRun = { readonly span: number; readonly from: number; readonly to: number }

/** Splits the days from `from` up to and excluding `to` into the fewest sums, in at most five runs. */
export function runsOf(from: number, to: number, [span = 1, ...finer]: readonly number[] = spans): SpanRun[] {
  if (from >= to) return []
  const [first, end] = [Math.ceil(from / span) * span, Math.floor(to / span) * span]
  if (first >= end) return finer.length > 0 ? runsOf(from, to, finer) : []
  return [...runsOf(from, first, finer), { span, from: first, to: end }, ...runsOf(end, to, finer)]
}

/** A sum of `span` days from `day` on. */
type SpanSum = { readonly span: number; readonly day: number }

/** The minimum number of lists per window, since the lists at its ends reach beyond it. */
const listsMin = 3

/** Returns sums of one length that cover a window with little excess. */
export function listsOf({ from, to }: Span): SpanSum[] {
  const span = spans.find((days) => days * listsMin <= to - from + 1) ?? 1
  const first = Math.floor(from / span) * span
  return Array.from({ length: Math.floor((to - first) / span) + 1 }, (_, nth) => ({ span, day: first + nth * span }))
}

/** A ranked row. `cents`: US dollars; `n`: a merchant's orders or a product's units. */
export type RankedRow = {
  readonly id: string
  readonly title: string
  readonly shopName: string
  readonly cents: number
  readonly n: number
}

type Transaction = typeof unifiedTransactions.$inferSelect
/** The fields of a money movement that the figures use. */
export type CountedMovement = Pick<
  Transaction,
  'id' | 'kind' | 'shopId' | 'processor' | 'affiliateId' | 'usdCents' | 'at' | 'confirmed'
> & {
  /** The mode of its order. */
  readonly mode: Mode
}

/**
 * The figure of each kind of movement. A reversed refund subtracts; disputes are not refunds, and refunds do not reduce
 * sales.
 */
const countsFor: { readonly [Kind in Transaction['kind']]?: { readonly kpi: 'GMV' | 'REFUNDS'; readonly sign: 1 | -1 } } = {
  CAPTURE: { kpi: 'GMV', sign: 1 },
  GIFT_CARD: { kpi: 'GMV', sign: 1 },
  REFUND: { kpi: 'REFUNDS', sign: 1 },
  GIFT_CARD_REFUND: { kpi: 'REFUNDS', sign: 1 },
  REFUND_REVERSED: { kpi: 'REFUNDS', sign: -1 },
}

/** Returns the deltas of a recorded movement. Movements of unconfirmed orders have none. */
export function deltasOfMovement({ id, kind, shopId, processor, affiliateId, usdCents, at, confirmed, mode }: CountedMovement): Delta[] {
  const counts = confirmed ? countsFor[kind] : undefined
  if (!counts) return []
  const { kpi, sign } = counts
  const day = dayNumberOf(at)
  if (usdCents === null) return [{ kpi: inMode('UNPRICED', mode), day, id, key: kpi, value: 1 }]
  const value = sign * usdCents
  const isSale = kpi === 'GMV'
  return [
    { kpi: inMode(kpi, mode), day, id, key: processor, value },
    ...(isSale && affiliateId !== null ? [{ kpi: inMode('MERCHANT_CENTS', mode), day, id, key: shopId, value }] : []),
  ]
}

/** Returns the deltas of a movement whose dollar value became known later. */
export const deltasOfPricing = (movement: CountedMovement): Delta[] =>
  deltasOfMovement(movement).flatMap((delta) => {
    const priced = { ...delta, id: `priced:${movement.id}` }
    const kpi = withoutMode(delta.kpi)
    return kpi === 'GMV' || kpi === 'REFUNDS'
      ? [priced, { ...priced, kpi: inMode('UNPRICED', movement.mode), key: kpi, value: -1 }]
      : [priced]
  })

type Line = Pick<typeof orderLines.$inferSelect, 'productId' | 'quantity' | 'total' | 'discount'>
/** A confirmed sale, without its movements. */
export type ConfirmedSale = Pick<typeof orders.$inferSelect, 'id' | 'shopId' | 'mode' | 'currency' | 'affiliateId'> & {
  /** The time of the confirmation, milliseconds. */
  readonly at: number
  /** The processor of the payment; `gift_card` if gift cards paid everything, `none` for a free order. */
  readonly processor: string
  readonly lines: readonly Line[]
}

/** Returns the deltas of a confirmed order, without those of its movements. */
export function deltasOfSale(sale: ConfirmedSale, usdPerUnit: string | null): Delta[] {
  const { id, shopId, mode, processor, affiliateId, lines } = sale
  const day = dayNumberOf(sale.at)
  const order: Delta = { kpi: inMode('ORDERS', mode), day, id, key: processor, value: 1 }
  if (affiliateId === null) return [order]
  const units = new Map<string, number>()
  for (const { productId, quantity } of lines) units.set(productId, (units.get(productId) ?? 0) + quantity)
  return [
    order,
    { kpi: inMode('MERCHANT_ORDERS', mode), day, id, key: shopId, value: 1 },
    ...[...units].map(([key, value]) => ({ kpi: inMode('PRODUCT_UNITS', mode), day, id: `${id}:${key}`, key, value })),
    ...(usdPerUnit === null ? [] : deltasOfLines(sale, usdPerUnit)),
  ]
}

/** Returns the sales of products: after discounts, without shipping and added tax. */
export function deltasOfLines(
  { id, mode, currency, at, lines }: Omit<ConfirmedSale, 'shopId' | 'affiliateId' | 'processor'>,
  usdPerUnit: string,
): Delta[] {
  const cents = new Map<string, number>()
  for (const { productId, total, discount } of lines)
    cents.set(productId, (cents.get(productId) ?? 0) + usdCentsOf(total - discount, currency, usdPerUnit))
  const day = dayNumberOf(at)
  return [...cents].map(([key, value]) => ({ kpi: inMode('PRODUCT_CENTS', mode), day, id: `${id}:${key}`, key, value }))
}

/** Sums up deltas by figure, span, day and key, in that order. */
export function foldDeltas(deltas: readonly Pick<Delta, 'kpi' | 'day' | 'key' | 'value'>[]): KpiSum[] {
  const sums = new Map<string, KpiSum>()
  for (const { kpi, day, key, value } of deltas)
    for (const span of spans) {
      const first = Math.floor(day / span) * span
      const name = `${kpi} ${span} ${first} ${key}`
      const before = sums.get(name)
      sums.set(name, { kpi, span, day: first, key, value: (before?.value ?? 0n) + BigInt(value) })
    }
  const sorted = [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([, row]) => row)
}

export const windowDaysDefault = 30
export const windowDaysMax = 365
export const rankedDefault = 10
export const rankedMax = 100

/** Times in milliseconds; `until` is exclusive. */
export type Period = { readonly since: number; readonly until: number }
/** Days since 1970-01-01, both inclusive. */
export type Span = { readonly from: number; readonly to: number }
export type WindowQuery = { readonly startDate?: string | undefined; readonly endDate?: string | undefined }

const dayNumber = (name: string, text: string): number => {
  if (!isDay(text)) throw invalidField(name, 'must be a calendar day such as 2026-01-31')
  return dayNumberOf(startOfDay(text))
}

/**
 * Returns the window of a request, both days inclusive. The default is the last 30 days with today.
 * @param zone the time zone of the days
 * @throws AppError INVALID with the parameter: one without the other, an invalid day, reversed, or more than 365 days
 */
export function windowOf({ startDate, endDate }: WindowQuery, now: number, zone = 'UTC'): Span {
  if (startDate === undefined && endDate === undefined) {
    const to = dayNumberIn(zone, now)
    return { from: to - windowDaysDefault + 1, to }
  }
  if (startDate === undefined) throw invalidField('startDate', 'required together with endDate')
  if (endDate === undefined) throw invalidField('endDate', 'required together with startDate')
  const [from, to] = [dayNumber('startDate', startDate), dayNumber('endDate', endDate)]
  if (to < from) throw invalidField('endDate', 'must not be before startDate')
  if (to - from >= windowDaysMax) throw invalidField('endDate', `must be within ${windowDaysMax} days of startDate`)
  return { from, to }
}

/** Returns the previous window of the same length. */
export const previousOf = ({ from, to }: Span): Span => ({ from: from - (to - from + 1), to: from - 1 })

/** Returns the change in percent; null without a previous value. */
export const percentChange = (total: number, before: number): number | null => (before === 0 ? null : ((total - before) * 100) / before)

/** Returns refunds divided by sales; null without sales. */
export const rateOf = ({ confirmed, refunded }: { confirmed: number; refunded: number }): number | null =>
  confirmed === 0 ? null : refunded / confirmed

/** Formats both amounts (cents) with their rate. */
export const ratedUsd = (sums: { confirmed: number; refunded: number }) => ({
  confirmedUsd: usdOf(sums.confirmed),
  refundedUsd: usdOf(sums.refunded),
  rate: rateOf(sums),
})

/** A stored figure that differs from its facts. */
export type Difference = Pick<Delta, 'kpi' | 'day' | 'key'> & { readonly stored: bigint; readonly counted: bigint }

/** A shop in one of its modes and currencies. */
export type ShopCurrency = { readonly shopId: string; readonly mode: 'TEST' | 'LIVE'; readonly currency: string }
/** The sums of a day: orders by count, money in minor units. */
export type DaySums = { readonly day: number; readonly orders: bigint; readonly confirmed: bigint; readonly refunds: bigint }
/** The sales of a product after discounts, without shipping and added tax, before refunds, in minor units. */
export type ProductSums = { readonly productId: string; readonly title: string | null; readonly units: bigint; readonly revenue: bigint }

/** Returns the key of the shop's figures. Those of products append the product id. */
export const shopKeyOf = ({ shopId, mode, currency }: ShopCurrency): string => `${shopId} ${mode} ${currency}`
