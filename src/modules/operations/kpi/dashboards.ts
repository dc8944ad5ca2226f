import { invalidField } from '../../../core/errors.ts'
import { dayText } from '../../../lib/day.ts'
import { centsEnd, usdOf } from '../../../lib/usd.ts'
import { kybCohorts } from '../../shop/kyb/domain.ts'
import {
  inModes,
  type Kpi,
  percentChange,
  previousOf,
  rankedDefault,
  rankedMax,
  ratedUsd,
  rateOf,
  type SalesKpi,
  type SalesMode,
  type Span,
  type WindowQuery,
  withoutMode,
} from './domain.ts'
import { countedWindow, type ReadDeps } from './history.ts'
import { rankings, topOf } from './ranking-store.ts'
import { type Sum, kpiStore as store } from './store.ts'

/** A figure of the dashboards: its known keys and whether it is an amount. */
const figures = {
  USERS: { keys: ['MERCHANT', 'CUSTOMER'], isUsd: false },
  SHOPS: { keys: kybCohorts, isUsd: false },
  ORDERS: { keys: [], isUsd: false },
  PRODUCTS: { keys: ['DRAFT', 'ACTIVE', 'ARCHIVED'], isUsd: false },
  GMV: { keys: [], isUsd: true },
} as const satisfies Partial<Record<Kpi, { keys: readonly string[]; isUsd: boolean }>>
export type Figure = keyof typeof figures

const add = (sums: readonly Sum[]): bigint => sums.reduce((total, { value }) => total + value, 0n)

/**
 * Converts a sum to a number.
 * @param end the first number that may be inexact
 * @throws AppError INVALID for a sum from `end` on, since a rounded figure would be wrong
 */
function toNumberBelow(sum: bigint | number, end: number): number {
  if (sum < end && sum > -end) return Number(sum)
  throw invalidField('startDate, endDate', 'the totals of these days are too large to be exact: use fewer days')
}
const countOf = (sum: bigint | number): number => toNumberBelow(sum, Number.MAX_SAFE_INTEGER)
/** Converts to cents. */
const centsOf = (sum: bigint | number): number => toNumberBelow(sum, centsEnd)

const daysOf = ({ from, to }: Span): number[] => Array.from({ length: to - from + 1 }, (_, nth) => from + nth)
const windowDates = ({ from, to }: Span) => ({ startDate: dayText(from), endDate: dayText(to) })

/** One value per day, including zeros. */
function seriesOf<Value>(span: Span, value: (day: number) => Value): { date: string; value: Value }[] {
  return daysOf(span).map((day) => ({ date: dayText(day), value: value(day) }))
}

/** Sums by day. */
function byDay(sums: readonly Sum[]): ReadonlyMap<number, bigint> {
  const days = new Map<number, bigint>()
  for (const { day, value } of sums) days.set(day, (days.get(day) ?? 0n) + value)
  return days
}

const sumsOf = (sums: readonly Sum[], kpi: Kpi): Sum[] => sums.filter((sum) => sum.kpi === kpi)

/** The default mode is LIVE. */
type SalesQuery = WindowQuery & { readonly mode?: SalesMode | undefined }

/** Reads sums of sales in a mode, each under the figure without its mode. */
async function salesSums(deps: ReadDeps, kpis: readonly SalesKpi[], { mode = 'LIVE' }: SalesQuery, span: Span, before?: Span) {
  const sums = await store.sums(deps.db.read, inModes(kpis, mode), span, before)
  const dropMode = (items: readonly Sum[]): Sum[] => items.map((sum) => ({ ...sum, kpi: withoutMode(sum.kpi) }))
  return {
    days: dropMode(sums.days),
    keys: mergedKeys(dropMode(sums.keys)),
    before: dropMode(sums.before),
    ofTestMode: add(sumsOf(sums.keys, 'TEST_GMV')),
  }
}

/** Merges the sums of both modes by figure and key. */
function mergedKeys(sums: readonly Sum[]): Sum[] {
  const merged = new Map<string, Sum>()
  for (const sum of sums) {
    const name = `${sum.kpi} ${sum.key}`
    merged.set(name, { ...sum, value: (merged.get(name)?.value ?? 0n) + sum.value })
  }
  return [...merged.values()]
}

/**
 * Reads a figure over a window of days and the previous window of the same length.
 * @throws AppError INVALID for the window, with the parameter, and for a sum that a number cannot hold exactly
 */
export async function readFigure(deps: ReadDeps, figure: Figure, query: SalesQuery) {
  const span = await countedWindow(deps, query)
  if (figure === 'ORDERS') return figureOf(figure, span, await salesSums(deps, [figure], query, span, previousOf(span)))
  return figureOf(figure, span, await store.sums(deps.db.read, [figure], span, previousOf(span)))
}

/**
 * Reads the gross merchandise value in dollars. `ofTestMode` is the part of test shops; `unpriced` counts movements
 * without a dollar value, which are in no sum.
 */
export async function readGmv(deps: ReadDeps, query: SalesQuery) {
  const span = await countedWindow(deps, query)
  const sums = await salesSums(deps, ['GMV', 'UNPRICED'], query, span, previousOf(span))
  return {
    ...figureOf('GMV', span, sums),
    ofTestMode: usdOf(centsOf(sums.ofTestMode)),
    unpriced: countOf(add(sumsOf(sums.keys, 'UNPRICED').filter(({ key }) => key === 'GMV'))),
  }
}

function figureOf(figure: Figure, span: Span, sums: Pick<Awaited<ReturnType<typeof store.sums>>, 'days' | 'keys' | 'before'>) {
  const { keys, isUsd } = figures[figure]
  const numberOf = isUsd ? centsOf : countOf
  const format = (sum: bigint) => (isUsd ? usdOf(centsOf(sum)) : countOf(sum))
  const [byKey, days] = [sumsOf(sums.keys, figure), byDay(sumsOf(sums.days, figure))]
  const [total, before] = [add(byKey), add(sumsOf(sums.before, figure))]
  const zeros: Record<string, number> = Object.fromEntries(keys.map((key) => [key, 0]))
  const present = byKey.filter(({ key, value }) => value !== 0n || key in zeros).sort((a, b) => (a.key < b.key ? -1 : 1))
  return {
    ...windowDates(span),
    total: format(total),
    previousTotal: format(before),
    percentChange: percentChange(numberOf(total), numberOf(before)),
    breakdown: { ...zeros, ...Object.fromEntries(present.map(({ key, value }) => [key, format(value)])) },
    series: seriesOf(span, (day) => format(days.get(day) ?? 0n)),
  }
}

/**
 * Reads the refund rate: refunds of the window divided by sales of the window, in dollars.
 * @throws AppError INVALID for the window, with the parameter, and for a sum that a number cannot hold exactly
 */
export async function readRefundRate(deps: ReadDeps, query: SalesQuery) {
  const span = await countedWindow(deps, query)
  const { days, keys } = await salesSums(deps, ['GMV', 'REFUNDS', 'UNPRICED'], query, span)
  const totalsOf = (sums: readonly Sum[]) => ({
    confirmed: centsOf(add(sumsOf(sums, 'GMV'))),
    refunded: centsOf(add(sumsOf(sums, 'REFUNDS'))),
  })
  const processors = [...new Set([...sumsOf(keys, 'GMV'), ...sumsOf(keys, 'REFUNDS')].map(({ key }) => key))].sort()
  const [confirmed, refunded] = [byDay(sumsOf(days, 'GMV')), byDay(sumsOf(days, 'REFUNDS'))]
  return {
    ...windowDates(span),
    network: ratedUsd(totalsOf(keys)),
    processors: processors
      .map((processor) => ({ processor, sums: totalsOf(keys.filter(({ key }) => key === processor)) }))
      .filter(({ sums }) => sums.confirmed !== 0 || sums.refunded !== 0)
      .map(({ processor, sums }) => ({ processor, ...ratedUsd(sums) })),
    series: seriesOf(span, (day) => rateOf({ confirmed: centsOf(confirmed.get(day) ?? 0n), refunded: centsOf(refunded.get(day) ?? 0n) })),
    unpriced: countOf(add(sumsOf(keys, 'UNPRICED'))),
  }
}

type RankingQuery = SalesQuery & { readonly limit?: string | undefined }
const limitOf = ({ limit }: RankingQuery): number => Math.min(Math.max(Number(limit ?? rankedDefault), 1), rankedMax)

/** Ranks merchants by what affiliates sold for them in dollars, then by id. */
export async function readTopMerchants(deps: ReadDeps, query: RankingQuery) {
  const span = await countedWindow(deps, query)
  const [limit, { mode = 'LIVE' }] = [limitOf(query), query]
  const rows = await topOf(deps.db.read, rankings.merchants, mode, span, limit)
  const data = rows.map(({ id, shopName, cents, n }, nth) => ({
    rank: nth + 1,
    merchantId: id,
    shopName,
    affiliateGmvUsd: usdOf(centsOf(cents)),
    orders: countOf(n),
  }))
  return { ...windowDates(span), data }
}

/** Ranks products by the units that affiliates sold, then by id. */
export async function readTopProducts(deps: ReadDeps, query: RankingQuery) {
  const span = await countedWindow(deps, query)
  const [limit, { mode = 'LIVE' }] = [limitOf(query), query]
  const rows = await topOf(deps.db.read, rankings.products, mode, span, limit)
  const data = rows.map(({ id, title, shopName, cents, n }, nth) => ({
    rank: nth + 1,
    productId: id,
    title,
    shopName,
    unitsSold: countOf(n),
    affiliateGmvUsd: usdOf(centsOf(cents)),
  }))
  return { ...windowDates(span), data }
}
