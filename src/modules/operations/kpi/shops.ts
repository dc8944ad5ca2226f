import type { DaySums, ProductSums, ShopCurrency, Span, WindowQuery } from './domain.ts'
import { previousOf } from './domain.ts'
import { shopFigures } from './facts-store.ts'
import { countedWindow, type ReadDeps } from './history.ts'

/**
 * Reads a shop's sales over a window and the previous window.
 * @param limit of each product ranking
 * @returns `days` of both windows that have figures
 * @throws AppError INVALID for the window, with the parameter; UNAVAILABLE until these days are counted
 */
export async function readShopFigures(
  deps: ReadDeps,
  shop: ShopCurrency,
  query: WindowQuery,
  limit: number,
): Promise<{ span: Span; before: Span; days: DaySums[]; products: ProductSums[] }> {
  const span = await countedWindow(deps, query, 'SHOPS')
  const before = previousOf(span)
  const days = await shopFigures.days(deps.db.read, shop, { from: before.from, to: span.to })
  return { span, before, days, products: await shopFigures.topProducts(deps.db.read, shop, span, limit) }
}
