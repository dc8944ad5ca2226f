import { dayMs } from '../../../lib/day.ts'
import { type DayRun, dayRunsIn } from '../../../lib/zone-days.ts'
import type { DaySums, Period, ProductSums, ShopCurrency, Span, WindowQuery } from './domain.ts'
import { previousOf } from './domain.ts'
import { countedWindow, type ReadDeps } from './history.ts'
import { shopFigures } from './shop-facts-store.ts'

/** Days per query of facts, so that requests run in between. */
const daysPerQuery = 8

/**
 * Reads a shop's sales over a window and the previous window. Stored sums are of UTC days: days of another zone are
 * counted from the facts, so that they are right after any change of the zone.
 * @param limit of each product ranking
 * @returns `days` of both windows that have figures, and when the windows begin and end
 * @throws AppError INVALID for the window, with the parameter; UNAVAILABLE until these days are counted
 */
export async function readShopFigures(
  deps: ReadDeps,
  shop: ShopCurrency & { readonly timeZone: string },
  query: WindowQuery,
  limit: number,
): Promise<{ span: Span; before: Span; period: Period; periodBefore: Period; days: DaySums[]; products: ProductSums[] }> {
  const { read } = deps.db
  const span = await countedWindow(deps, query, 'SHOPS', shop.timeZone)
  const before = previousOf(span)
  const runsOf = ({ from, to }: Span) => dayRunsIn(shop.timeZone, from, to, daysPerQuery)
  const [runs, runsBefore] = [runsOf(span), runsOf(before)]
  const [period, periodBefore] = [periodOf(runs), periodOf(runsBefore)]
  const all = [...runsBefore, ...runs]
  const isUtc = all.every(({ day, since, length }) => since === day * dayMs && length === dayMs)
  const days = isUtc
    ? await shopFigures.days(read, shop, { from: before.from, to: span.to })
    : await shopFigures.daysOfRuns(read, shop, all)
  const { whole, edges } = isUtc ? { whole: span, edges: [] } : utcDaysWithin(period)
  return { span, before, period, periodBefore, days, products: await shopFigures.topProducts(read, shop, whole, limit, edges) }
}

const periodOf = (runs: readonly DayRun[]): Period => ({ since: runs[0]?.since ?? 0, until: runs.at(-1)?.until ?? 0 })

/** Splits a period into its whole UTC days, which have stored sums, and what is before and after them. */
export function utcDaysWithin({ since, until }: Period): { whole: Span; edges: Period[] } {
  const [from, end] = [Math.ceil(since / dayMs), Math.floor(until / dayMs)]
  const edges =
    from > end
      ? [{ since, until }]
      : [
          { since, until: from * dayMs },
          { since: end * dayMs, until },
        ]
  return { whole: { from, to: end - 1 }, edges: edges.filter((edge) => edge.since < edge.until) }
}
