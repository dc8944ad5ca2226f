import { changeProduct, findProductByHandle } from '../modules/catalog/products/index.ts'
import type { AppDeps } from '../providers.ts'
import type { Market } from './orders.ts'

const threshold = 5
/** Some of the stock is low then, and the rest is not. */
const watchedProducts = 8

/** Sets low-stock thresholds after the sales, so that each low variant is reported once. */
export async function watchStock(deps: AppDeps, { plan, shop }: Market): Promise<void> {
  for (const { handle } of plan.products.slice(0, watchedProducts)) {
    const product = await findProductByHandle(deps, shop, handle)
    if (!product || product.variants.some(({ lowStockAt }) => lowStockAt !== null)) continue
    const variants = product.variants.map(({ id }) => ({ id, lowStockAt: threshold }))
    await changeProduct(deps, { shop, actor: { id: shop.merchantId } }, product.id, { variants })
  }
}
