import type { Writer } from '../../../../db/engine.ts'
import type { Deps } from '../../../core/deps.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { publishEvent } from '../../messaging/live-events/index.ts'
import { enqueueMessage } from '../../messaging/webhook/index.ts'
import { findVariant, type LowStock } from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { lowStockStore as store } from './low-stock-store.ts'
import { stockStore } from './stock-store.ts'

type Shop = Pick<ShopContext, 'id'>

/**
 * Publishes `stock.low` inside the write by which variants fell to their threshold. The caller passes only variants
 * whose change crossed it, so the event is sent once per crossing.
 */
export async function publishLowStock(tx: Writer, deps: Pick<Deps, 'clock' | 'newId'>, variantIds: readonly string[]): Promise<void> {
  if (variantIds.length === 0) return
  const found = await stockStore.sellables(tx, variantIds)
  for (const { variant, product } of found) {
    const { id: variantId, title: variantTitle, sku, onHand, reserved, lowStockAt } = variant
    await enqueueMessage(tx, deps, {
      shopId: product.shopId,
      event: 'stock.low',
      // A variant can fall to its threshold any number of times.
      key: `stock.low:${variantId}:${deps.newId('stockChange')}`,
      data: { productId: product.id, variantId, title: product.title, variantTitle, sku, onHand, reserved, lowStockAt: lowStockAt ?? 0 },
    })
    const data = { productId: product.id, variantId, onHand, reserved, lowStockAt: lowStockAt ?? 0 }
    await publishEvent(tx, deps, { name: 'stock.low', shopId: product.shopId, data })
  }
}

/** Lists low-stock variants of products that are not ARCHIVED, lowest stock first. */
export async function listLowStock({ db }: Pick<Deps, 'db'>, shop: Shop, slice: PageSlice): Promise<Page<LowStock>> {
  const { rows, total } = await store.list(db.read, shop.id, slice)
  return pageOf(rows, total, slice)
}

/** Counts low-stock variants up to `most`. */
export const countLowStock = ({ db }: Pick<Deps, 'db'>, shop: Shop, most: number): Promise<number> => store.count(db.read, shop.id, most)

/**
 * Lists manual and imported stock changes of a variant, newest first. Orders add none: they are their own record.
 * @throws AppError NOT_FOUND, also for another shop's
 */
export async function listStockHistory(
  { db, catalogStore }: Pick<CatalogDeps, 'db' | 'catalogStore'>,
  shop: Shop,
  { productId, variantId }: { productId: string; variantId: string },
  slice: PageSlice,
) {
  const record = await catalogStore.findProduct(shop.id, productId)
  findVariant(record, variantId)
  const { rows, total } = await store.history(db.read, variantId, slice)
  return pageOf(
    rows.map((row) => ({ ...pick(row, 'id', 'variantId', 'delta', 'onHand', 'reason', 'actor'), ...isoTimes(pick(row, 'at')) })),
    total,
    slice,
  )
}
