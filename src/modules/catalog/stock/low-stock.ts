import type { Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { tellLive } from '../../messaging/live-events/index.ts'
import { enqueueMessage } from '../../messaging/webhook/index.ts'
import { type LowStock, variantOf } from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { lowStockStore as store } from './low-stock-store.ts'
import { stockStore } from './stock-store.ts'

type Shop = Pick<ShopContext, 'id'>

/**
 * Tells the shop's webhooks of variants of which there are few since just now, inside the write by which they became few: by a change of
 * each row that said so, so once a time.
 */
export async function tellLow(tx: Writer, deps: Pick<Deps, 'clock' | 'newId'>, variantIds: readonly string[]): Promise<void> {
  if (variantIds.length === 0) return
  const found = await stockStore.sellables(tx, variantIds)
  for (const { variant, product } of found) {
    const { id: variantId, title: variantTitle, sku, onHand, reserved, lowStockAt } = variant
    await enqueueMessage(tx, deps, {
      shopId: product.shopId,
      event: 'stock.low',
      // There may be few of it any number of times.
      key: `stock.low:${variantId}:${deps.newId('stockChange')}`,
      data: { productId: product.id, variantId, title: product.title, variantTitle, sku, onHand, reserved, lowStockAt: lowStockAt ?? 0 },
    })
    const data = { productId: product.id, variantId, onHand, reserved, lowStockAt: lowStockAt ?? 0 }
    await tellLive(tx, deps, { name: 'stock.low', shopId: product.shopId, data })
  }
}

/** The variants of a shop of which there are few, in whatever status their products are but ARCHIVED: the fewest first. */
export async function lowStock({ db }: Pick<Deps, 'db'>, shop: Shop, slice: Slice): Promise<Page<LowStock>> {
  const { rows, total } = await store.list(db.read, shop.id, slice)
  return pageOf(rows, total, slice)
}

/** How many such variants there are, counted up to `most`. */
export const countLowStock = ({ db }: Pick<Deps, 'db'>, shop: Shop, most: number): Promise<number> => store.count(db.read, shop.id, most)

/**
 * What was changed of a variant's stock by hand or by an import, newest first. Orders leave no rows: they are their own record.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function stockHistoryOf(
  { db, catalogStore }: Pick<CatalogDeps, 'db' | 'catalogStore'>,
  shop: Shop,
  { productId, variantId }: { productId: string; variantId: string },
  slice: Slice,
) {
  const whole = await catalogStore.findWhole(shop.id, productId)
  variantOf(whole, variantId)
  const { rows, total } = await store.history(db.read, variantId, slice)
  return pageOf(
    rows.map((row) => ({ ...pick(row, 'id', 'variantId', 'delta', 'onHand', 'reason', 'actor'), ...isoTimes(pick(row, 'at')) })),
    total,
    slice,
  )
}
