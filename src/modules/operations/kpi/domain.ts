import type { kpiDays, kpiDeltas } from '../../../../db/schema/kpi.ts'
import type { unifiedTransactions } from '../../../../db/schema/ledger.ts'
import type { orderLines, orders } from '../../../../db/schema/selling.ts'
import { AppError } from '../../../core/errors.ts'
import { dayMs, dayOf, isDay, startOf } from '../../../lib/day.ts'
import { usdOf } from '../../../lib/usd.ts'
import { usdCentsOf } from '../../payments/fx/domain.ts'

/** Figures whose past is counted together: those of the dashboards, and those of shops. What one lacks keeps nobody from the other. */
export const kpiParts = ['NETWORK', 'SHOPS'] as const
export type KpiPart = (typeof kpiParts)[number]

/** One change of a figure: what is appended in the write of the fact that changes it. */
export type Delta = typeof kpiDeltas.$inferSelect
export type Kpi = Delta['kpi']
/** Sales figures of live shops. Those of test shops have the prefix TEST_. */
export type SalesKpi = 'ORDERS' | 'GMV' | 'REFUNDS' | 'UNPRICED' | 'MERCHANT_CENTS' | 'MERCHANT_ORDERS' | 'PRODUCT_CENTS' | 'PRODUCT_UNITS'
type Mode = typeof orders.$inferSelect.mode
/** The orders that a dashboard counts. */
export const salesModes = ['LIVE', 'TEST', 'ALL'] as const
export type SalesMode = (typeof salesModes)[number]

/** The figure of one mode. */
export const inMode = (kpi: SalesKpi, mode: Mode): Kpi => (mode === 'TEST' ? `TEST_${kpi}` : kpi)
/** The figures that make up what a dashboard counts. */
export const inModes = (kpis: readonly SalesKpi[], mode: SalesMode): Kpi[] =>
  (mode === 'ALL' ? (['LIVE', 'TEST'] as const) : [mode]).flatMap((one) => kpis.map((kpi) => inMode(kpi, one)))
/** The figure without its mode. */
export const withoutMode = (kpi: Kpi): Kpi => kpi.replace(/^TEST_/, '') as Kpi

/** A sum of deltas, of the days from `day` on. What a delta holds is a number that is exact; their sum may be more than any such number. */
export type Folded = Omit<typeof kpiDays.$inferSelect, 'value'> & { readonly value: bigint }

/** A sum as deltas hold it: as few of them as each is a number that is exact. None for nothing. */
export function amountsOf(sum: bigint): number[] {
  const most = BigInt(Number.MAX_SAFE_INTEGER)
  const amounts: number[] = []
  for (let left = sum; left !== 0n; ) {
    const some = left > most ? most : left < -most ? -most : left
    amounts.push(Number(some))
    left -= some
  }
  return amounts
}

/** The day of a moment (milliseconds) as the figures have it: days since 1970-01-01, UTC. */
export const dayNumberOf = (ms: number): number => Math.floor(ms / dayMs)

/** By how many days figures are summed up, so that a long window is few rows. Every span is a multiple of the one after it. */
export const spans = [64, 8, 1] as const

/** A run of sums: those of `span` days that begin from `from` on and before `to`. */
export type Run = { readonly span: number; readonly from: number; readonly to: number }

/** The fewest sums that make up the days from `from` on and before `to`: at most five runs of them. */
export function runsOf(from: number, to: number, [span = 1, ...finer]: readonly number[] = spans): Run[] {
  if (from >= to) return []
  const [first, end] = [Math.ceil(from / span) * span, Math.floor(to / span) * span]
  if (first >= end) return finer.length > 0 ? runsOf(from, to, finer) : []
  return [...runsOf(from, first, finer), { span, from: first, to: end }, ...runsOf(end, to, finer)]
}

/** One sum of `span` days from `day` on. */
export type Piece = { readonly span: number; readonly day: number }

/** At least as many lists as this are a window's, where there are any of so many days: those at its ends reach beyond it. */
const listsMin = 3

/** Sums of one length that cover a window, as few of them as are not much more than it. */
export function listsOf({ from, to }: Span): Piece[] {
  const span = spans.find((days) => days * listsMin <= to - from + 1) ?? 1
  const first = Math.floor(from / span) * span
  return Array.from({ length: Math.floor((to - first) / span) + 1 }, (_, nth) => ({ span, day: first + nth * span }))
}

/** What is ranked. `cents`: of US dollars; `n`: orders of a merchant, units of a product. */
export type RankedRow = {
  readonly id: string
  readonly title: string
  readonly shopName: string
  readonly cents: number
  readonly n: number
}

type Transaction = typeof unifiedTransactions.$inferSelect
/** What of a movement of money the figures go by. */
export type Counted = Pick<Transaction, 'id' | 'kind' | 'shopId' | 'processor' | 'affiliateId' | 'usdCents' | 'at' | 'confirmed'> & {
  /** Of its order. */
  readonly mode: Mode
}

/**
 * What movements count for. A refund that came back is none any more; what a shopper's bank took back was not refunded, and a sale stays
 * one whatever goes back of it.
 */
export const countsFor: { readonly [Kind in Transaction['kind']]?: { readonly kpi: 'GMV' | 'REFUNDS'; readonly sign: 1 | -1 } } = {
  CAPTURE: { kpi: 'GMV', sign: 1 },
  GIFT_CARD: { kpi: 'GMV', sign: 1 },
  REFUND: { kpi: 'REFUNDS', sign: 1 },
  GIFT_CARD_REFUND: { kpi: 'REFUNDS', sign: 1 },
  REFUND_REVERSED: { kpi: 'REFUNDS', sign: -1 },
}

/** How a movement changes the figures when it is recorded. One of an order that was never confirmed does not. */
export function deltasOfMovement({ id, kind, shopId, processor, affiliateId, usdCents, at, confirmed, mode }: Counted): Delta[] {
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

/** The same when it is told later what a movement was worth. */
export const deltasOfPricing = (movement: Counted): Delta[] =>
  deltasOfMovement(movement).flatMap((delta) => {
    const told = { ...delta, id: `priced:${movement.id}` }
    const kpi = withoutMode(delta.kpi)
    return kpi === 'GMV' || kpi === 'REFUNDS' ? [told, { ...told, kpi: inMode('UNPRICED', movement.mode), key: kpi, value: -1 }] : [told]
  })

type Line = Pick<typeof orderLines.$inferSelect, 'productId' | 'quantity' | 'total' | 'discount'>
/** A sale as the figures know it, besides its movements. */
export type Sold = Pick<typeof orders.$inferSelect, 'id' | 'shopId' | 'mode' | 'currency' | 'affiliateId'> & {
  /** When it was confirmed, milliseconds. */
  readonly at: number
  /** Whose payment it was; `gift_card` of what no processor was paid for, `none` of what cost nothing. */
  readonly processor: string
  readonly lines: readonly Line[]
}

/** How a sale changes the figures when its order is confirmed, but for what its movements do. */
export function deltasOfSale(sold: Sold, usdPerUnit: string | null): Delta[] {
  const { id, shopId, mode, processor, affiliateId, lines } = sold
  const day = dayNumberOf(sold.at)
  const order: Delta = { kpi: inMode('ORDERS', mode), day, id, key: processor, value: 1 }
  if (affiliateId === null) return [order]
  const units = new Map<string, number>()
  for (const { productId, quantity } of lines) units.set(productId, (units.get(productId) ?? 0) + quantity)
  return [
    order,
    { kpi: inMode('MERCHANT_ORDERS', mode), day, id, key: shopId, value: 1 },
    ...[...units].map(([key, value]) => ({ kpi: inMode('PRODUCT_UNITS', mode), day, id: `${id}:${key}`, key, value })),
    ...(usdPerUnit === null ? [] : deltasOfLines(sold, usdPerUnit)),
  ]
}

/** What the products of a sale were sold for: less discounts, without shipping and without tax that comes on top. */
export function deltasOfLines(
  { id, mode, currency, at, lines }: Omit<Sold, 'shopId' | 'affiliateId' | 'processor'>,
  usdPerUnit: string,
): Delta[] {
  const cents = new Map<string, number>()
  for (const { productId, total, discount } of lines)
    cents.set(productId, (cents.get(productId) ?? 0) + usdCentsOf(total - discount, currency, usdPerUnit))
  const day = dayNumberOf(at)
  return [...cents].map(([key, value]) => ({ kpi: inMode('PRODUCT_CENTS', mode), day, id: `${id}:${key}`, key, value }))
}

/** Deltas as they are folded: summed up by figure, span, day and key, in the order of these. */
export function foldedOf(deltas: readonly Pick<Delta, 'kpi' | 'day' | 'key' | 'value'>[]): Folded[] {
  const sums = new Map<string, Folded>()
  for (const { kpi, day, key, value } of deltas)
    for (const span of spans) {
      const first = Math.floor(day / span) * span
      const name = `${kpi} ${span} ${first} ${key}`
      const before = sums.get(name)
      sums.set(name, { kpi, span, day: first, key, value: (before?.value ?? 0n) + BigInt(value) })
    }
  const named = [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
  return named.map(([, row]) => row)
}

export const windowDaysDefault = 30
export const windowDaysMax = 365
export const rankedDefault = 10
export const rankedMax = 100

/** Days since 1970-01-01, both inclusive. */
export type Span = { readonly from: number; readonly to: number }
export type AskedWindow = { readonly startDate?: string | undefined; readonly endDate?: string | undefined }

const dayNumber = (name: string, text: string): number => {
  if (!isDay(text)) throw new AppError('INVALID', `${name} (query): not a day of the calendar, YYYY-MM-DD`)
  return dayNumberOf(startOf(text))
}

/**
 * The days that a dashboard is asked for, both inclusive; the last 30 with today unless it is told.
 * @throws AppError INVALID, naming the parameter: one without the other, no day of the calendar, reversed, more than 365 days
 */
export function windowOf({ startDate, endDate }: AskedWindow, now: number): Span {
  if (startDate === undefined && endDate === undefined) {
    const to = dayNumberOf(now)
    return { from: to - windowDaysDefault + 1, to }
  }
  if (startDate === undefined) throw new AppError('INVALID', 'startDate (query): needed beside endDate')
  if (endDate === undefined) throw new AppError('INVALID', 'endDate (query): needed beside startDate')
  const [from, to] = [dayNumber('startDate', startDate), dayNumber('endDate', endDate)]
  if (to < from) throw new AppError('INVALID', 'endDate (query): before startDate')
  if (to - from >= windowDaysMax) throw new AppError('INVALID', `endDate (query): a window has ${windowDaysMax} days at most`)
  return { from, to }
}

/** The window of the same length before. */
export const previousOf = ({ from, to }: Span): Span => ({ from: from - (to - from + 1), to: from - 1 })

/** A day as it is sent. */
export const dayText = (day: number): string => dayOf(day * dayMs)

/** By how many percent a figure has changed; null where there was none before. */
export const percentChange = (total: number, before: number): number | null => (before === 0 ? null : ((total - before) * 100) / before)

/** What was refunded of what was confirmed; null where nothing was. */
export const rateOf = ({ confirmed, refunded }: { confirmed: number; refunded: number }): number | null =>
  confirmed === 0 ? null : refunded / confirmed

/** Of both, in cents, as it is sent. */
export const ratedUsd = (sums: { confirmed: number; refunded: number }) => ({
  confirmedUsd: usdOf(sums.confirmed),
  refundedUsd: usdOf(sums.refunded),
  rate: rateOf(sums),
})

/** A figure that is kept as another than its facts say, on a day. */
export type Difference = Pick<Delta, 'kpi' | 'day' | 'key'> & { readonly kept: bigint; readonly counted: bigint }

/** Orders, money and products of a shop in one of its modes and currencies. */
export type Side = { readonly shopId: string; readonly mode: 'TEST' | 'LIVE'; readonly currency: string }
/** What a day of a shop came to: orders by count, money in minor units. */
export type DaySums = { readonly day: number; readonly orders: bigint; readonly confirmed: bigint; readonly refunds: bigint }
/** What was sold of a product: less discounts, without shipping and without tax that comes on top, before refunds, in minor units. */
export type ProductSums = { readonly productId: string; readonly title: string | null; readonly units: bigint; readonly revenue: bigint }

/** What its figures stand under, and those of its products behind that. */
export const keyOfSide = ({ shopId, mode, currency }: Side): string => `${shopId} ${mode} ${currency}`
