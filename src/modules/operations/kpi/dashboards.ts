import { AppError } from '../../../core/errors.ts'
import { centsEnd, usdOf } from '../../../lib/usd.ts'
import { kybCohorts } from '../../shop/kyb/domain.ts'
import {
  type AskedWindow,
  dayText,
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
  withoutMode,
} from './domain.ts'
import { type ReadDeps, spanOf } from './history.ts'
import { rankingStore } from './ranking-store.ts'
import { type Sum, kpiStore as store } from './store.ts'

/** A figure of the dashboards: what it is broken down by, where those are a few that are known; and whether it is money. */
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
 * A sum as the number that it is.
 * @param end numbers of this size and above may be another's
 * @throws AppError INVALID where it is too large for that: a figure that is nearly right is none
 */
function exact(sum: bigint | number, end: number): number {
  if (sum < end && sum > -end) return Number(sum)
  throw new AppError(
    'INVALID',
    'startDate, endDate (query): what these days, or as many before them, add up to is more than a number can tell exactly: ask for fewer days',
  )
}
const countOf = (sum: bigint | number): number => exact(sum, Number.MAX_SAFE_INTEGER)
/** In whole cents. */
const centsOf = (sum: bigint | number): number => exact(sum, centsEnd)

const daysOf = ({ from, to }: Span): number[] => Array.from({ length: to - from + 1 }, (_, nth) => from + nth)
const shown = ({ from, to }: Span) => ({ startDate: dayText(from), endDate: dayText(to) })

/** One value a day, zeros too. */
function seriesOf<Value>(span: Span, value: (day: number) => Value): { date: string; value: Value }[] {
  return daysOf(span).map((day) => ({ date: dayText(day), value: value(day) }))
}

/** The sums of days, by the day. */
function byDay(sums: readonly Sum[]): ReadonlyMap<number, bigint> {
  const days = new Map<number, bigint>()
  for (const { day, value } of sums) days.set(day, (days.get(day) ?? 0n) + value)
  return days
}

const of = (sums: readonly Sum[], kpi: Kpi): Sum[] => sums.filter((sum) => sum.kpi === kpi)

/** Sales are those of shops in live mode unless `mode` says otherwise. */
export type AskedSales = AskedWindow & { readonly mode?: SalesMode | undefined }

/** The sums of figures of sales in the modes that are asked for, each under the figure without its mode. */
async function salesSums(deps: ReadDeps, kpis: readonly SalesKpi[], { mode = 'LIVE' }: AskedSales, span: Span, before?: Span) {
  const sums = await store.sums(deps.db.read, inModes(kpis, mode), span, before)
  const bare = (some: readonly Sum[]): Sum[] => some.map((sum) => ({ ...sum, kpi: withoutMode(sum.kpi) }))
  return { days: bare(sums.days), keys: mergedKeys(bare(sums.keys)), before: bare(sums.before), ofTestMode: add(of(sums.keys, 'TEST_GMV')) }
}

/** One sum for each figure and key: a processor may have sold in both modes. */
function mergedKeys(sums: readonly Sum[]): Sum[] {
  const merged = new Map<string, Sum>()
  for (const sum of sums) {
    const name = `${sum.kpi} ${sum.key}`
    merged.set(name, { ...sum, value: (merged.get(name)?.value ?? 0n) + sum.value })
  }
  return [...merged.values()]
}

/**
 * A figure over a window of days, with the window of the same length before.
 * @throws AppError INVALID, naming the parameter of the window, and where a sum is more than a number can tell exactly
 */
export async function readFigure(deps: ReadDeps, figure: Figure, asked: AskedSales) {
  const span = await spanOf(deps, asked)
  if (figure === 'ORDERS') return figureOf(figure, span, await salesSums(deps, [figure], asked, span, previousOf(span)))
  return figureOf(figure, span, await store.sums(deps.db.read, [figure], span, previousOf(span)))
}

/**
 * What was sold, in dollars; `ofTestMode`: what of it is money of shops in test mode; `unpriced`: how many sums of money have no worth in
 * dollars yet, and so are in none of it.
 */
export async function readGmv(deps: ReadDeps, asked: AskedSales) {
  const span = await spanOf(deps, asked)
  const sums = await salesSums(deps, ['GMV', 'UNPRICED'], asked, span, previousOf(span))
  return {
    ...figureOf('GMV', span, sums),
    ofTestMode: usdOf(centsOf(sums.ofTestMode)),
    unpriced: countOf(add(of(sums.keys, 'UNPRICED').filter(({ key }) => key === 'GMV'))),
  }
}

function figureOf(figure: Figure, span: Span, sums: Pick<Awaited<ReturnType<typeof store.sums>>, 'days' | 'keys' | 'before'>) {
  const { keys, isUsd } = figures[figure]
  const numberOf = isUsd ? centsOf : countOf
  const say = (sum: bigint) => (isUsd ? usdOf(centsOf(sum)) : countOf(sum))
  const [byKey, days] = [of(sums.keys, figure), byDay(of(sums.days, figure))]
  const [total, before] = [add(byKey), add(of(sums.before, figure))]
  const known: Record<string, number> = Object.fromEntries(keys.map((key) => [key, 0]))
  const met = byKey.filter(({ key, value }) => value !== 0n || key in known).sort((a, b) => (a.key < b.key ? -1 : 1))
  return {
    ...shown(span),
    total: say(total),
    previousTotal: say(before),
    percentChange: percentChange(numberOf(total), numberOf(before)),
    breakdown: { ...known, ...Object.fromEntries(met.map(({ key, value }) => [key, say(value)])) },
    series: seriesOf(span, (day) => say(days.get(day) ?? 0n)),
  }
}

/**
 * What was refunded in a window out of what was confirmed in it, in dollars.
 * @throws AppError INVALID, naming the parameter of the window, and where a sum is more than a number can tell exactly
 */
export async function readRefundRate(deps: ReadDeps, asked: AskedSales) {
  const span = await spanOf(deps, asked)
  const { days, keys } = await salesSums(deps, ['GMV', 'REFUNDS', 'UNPRICED'], asked, span)
  const both = (sums: readonly Sum[]) => ({ confirmed: centsOf(add(of(sums, 'GMV'))), refunded: centsOf(add(of(sums, 'REFUNDS'))) })
  const processors = [...new Set([...of(keys, 'GMV'), ...of(keys, 'REFUNDS')].map(({ key }) => key))].sort()
  const [confirmed, refunded] = [byDay(of(days, 'GMV')), byDay(of(days, 'REFUNDS'))]
  return {
    ...shown(span),
    network: ratedUsd(both(keys)),
    processors: processors
      .map((processor) => ({ processor, sums: both(keys.filter(({ key }) => key === processor)) }))
      .filter(({ sums }) => sums.confirmed !== 0 || sums.refunded !== 0)
      .map(({ processor, sums }) => ({ processor, ...ratedUsd(sums) })),
    series: seriesOf(span, (day) => rateOf({ confirmed: centsOf(confirmed.get(day) ?? 0n), refunded: centsOf(refunded.get(day) ?? 0n) })),
    unpriced: countOf(add(of(keys, 'UNPRICED'))),
  }
}

export type AskedRanking = AskedSales & { readonly limit?: string | undefined }
const limitOf = ({ limit }: AskedRanking): number => Math.min(Math.max(Number(limit ?? rankedDefault), 1), rankedMax)

/** The merchants for whose shops partners sold the most, by dollars and then by id. */
export async function readTopMerchants(deps: ReadDeps, asked: AskedRanking) {
  const span = await spanOf(deps, asked)
  const [limit, { mode = 'LIVE' }] = [limitOf(asked), asked]
  const { read } = deps.db
  const rows = (await rankingStore.headOfMerchants(read, mode, span, limit)) ?? (await store.topMerchants(read, mode, span, limit))
  const data = rows.map(({ id, shopName, cents, n }, nth) => ({
    rank: nth + 1,
    merchantId: id,
    shopName,
    affiliateGmvUsd: usdOf(centsOf(cents)),
    orders: countOf(n),
  }))
  return { ...shown(span), data }
}

/** The products of which partners sold the most units, by these and then by id. */
export async function readTopProducts(deps: ReadDeps, asked: AskedRanking) {
  const span = await spanOf(deps, asked)
  const [limit, { mode = 'LIVE' }] = [limitOf(asked), asked]
  const { read } = deps.db
  const rows = (await rankingStore.headOfProducts(read, mode, span, limit)) ?? (await store.topProducts(read, mode, span, limit))
  const data = rows.map(({ id, title, shopName, cents, n }, nth) => ({
    rank: nth + 1,
    productId: id,
    title,
    shopName,
    unitsSold: countOf(n),
    affiliateGmvUsd: usdOf(centsOf(cents)),
  }))
  return { ...shown(span), data }
}
