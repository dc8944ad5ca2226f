import type { Writer } from '../../../../db/engine.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { audited } from '../../operations/audit/index.ts'
import { applyStockChange, findVariant, isAvailable, isLowStock, type ProductWithVariants } from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { findToChange, type ProductChange } from '../products/service.ts'
import { renderProduct } from '../products/summary.ts'
import { managementVariantView } from '../products/view.ts'
import { publishLowStock } from './low-stock.ts'
import { stockHistoryStore as store } from './stock-history-store.ts'
import { stockStore } from './stock-store.ts'

/** With the version of its product. */
type ManagementVariant = ReturnType<typeof managementVariantView> & { version: number }
/** A relative change, or the count on the shelf. */
type StockInput = { delta?: number | undefined; counted?: number | undefined; reason?: string | undefined }

/**
 * Changes the stock of a variant and records who, by how much and why. The product's version stays.
 * @throws AppError INVALID unless exactly one of `delta` and `counted` is given; NOT_FOUND; PRECONDITION_FAILED;
 * CONFLICT if fewer than zero or than the reserved units would be left, unless it takes backorders
 */
export async function changeStock(
  deps: CatalogDeps,
  by: ProductChange,
  { productId, variantId }: { productId: string; variantId: string },
  { delta, counted, reason }: StockInput,
): Promise<ManagementVariant> {
  if ((delta === undefined) === (counted === undefined)) throw invalidField('delta', 'send either delta or counted')
  const { clock, newId } = deps
  return audited(deps, by, { action: 'variant.stock_changed', subject: variantId }, async (tx, setDifference) => {
    const record = await findToChange(tx, deps, by, productId, variantId)
    const before = findVariant(record, variantId)
    const change = delta ?? (counted as number) - before.onHand
    const changed = applyStockChange(before, change)
    const stockAfter = await store.adjust(tx, { id: variantId, delta: change, was: counted === undefined ? undefined : before.onHand })
    if (!stockAfter) throw new AppError('CONFLICT', 'The stock was changed by another request. Try again')
    const after = { ...changed, ...stockAfter }
    await store.append(tx, [
      {
        id: newId('stockChange'),
        shopId: by.shop.id,
        variantId,
        delta: change,
        onHand: after.onHand,
        reason: reason ?? null,
        actor: by.actor.id,
        at: clock.now(),
      },
    ])
    if (isLowStock(after) && !isLowStock(before)) await publishLowStock(tx, deps, [variantId])
    setDifference({ before: { onHand: before.onHand }, after: { onHand: after.onHand, delta: change } })
    if (isAvailable(before) !== isAvailable(after)) {
      const variants = record.variants.map((one) => (one.id === variantId ? after : one))
      await updateDocument(tx, deps, { ...record, variants })
    }
    return { ...managementVariantView(after, record.product.currency), version: record.product.version }
  })
}

/** Updates the public document, if there is one. */
async function updateDocument(tx: Writer, { catalogStore, documents }: CatalogDeps, record: ProductWithVariants): Promise<void> {
  // Locks the product: an order that changes another variant's availability waits, or this write waits and is run
  // again.
  await stockStore.lockProduct(tx, record.product.id)
  tx.afterCommit(() => documents.invalidate(record.product.id))
  await catalogStore.replaceDocument(tx, renderProduct(record))
}
