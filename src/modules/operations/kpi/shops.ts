import type { AskedWindow, DaySums, ProductSums, Side, Span } from './domain.ts'
import { previousOf } from './domain.ts'
import { shopFigures } from './facts-store.ts'
import { type ReadDeps, spanOf } from './history.ts'

/**
 * What a shop sold over a window of days, with as many days before.
 * @param limit how many products of each ranking
 * @returns `days`: those of both windows of which there is anything
 * @throws AppError INVALID, naming the parameter of the window; UNAVAILABLE while these days are still to be counted of what was there before figures were kept
 */
export async function readShopFigures(
  deps: ReadDeps,
  side: Side,
  asked: AskedWindow,
  limit: number,
): Promise<{ span: Span; before: Span; days: DaySums[]; products: ProductSums[] }> {
  const span = await spanOf(deps, asked, 'SHOPS')
  const before = previousOf(span)
  const days = await shopFigures.days(deps.db.read, side, { from: before.from, to: span.to })
  return { span, before, days, products: await shopFigures.topProducts(deps.db.read, side, span, limit) }
}
