import type { Writer } from '../../../../db/engine.ts'
import { AppError } from '../../../core/errors.ts'
import { audited } from '../../operations/audit/index.ts'
import { isAvailable, isLow, restockedVariant, variantOf, type Whole } from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { findToChange, type ProductChange } from '../products/service.ts'
import { renderedOf } from '../products/summary.ts'
import { managementVariantView } from '../products/view.ts'
import { tellLow } from './low-stock.ts'
import { stockHistoryStore as store } from './stock-history-store.ts'
import { stockStore } from './stock-store.ts'

/** With the version of its product. */
export type ManagementVariant = ReturnType<typeof managementVariantView> & { version: number }
/** So many more or, below zero, fewer; or what was counted on the shelf. */
export type StockInput = { delta?: number | undefined; counted?: number | undefined; reason?: string | undefined }

/**
 * Changes the stock of a variant, and writes down who did, by how much and why. The product's version stays: stock is no part of it.
 * @throws AppError INVALID unless exactly one of `delta` and `counted` is given; NOT_FOUND, PRECONDITION_FAILED; CONFLICT where less
 *   would be left than orders were promised, or than nothing, unless the variant may be ordered ahead
 */
export async function changeStock(
  deps: CatalogDeps,
  by: ProductChange,
  { productId, variantId }: { productId: string; variantId: string },
  { delta, counted, reason }: StockInput,
): Promise<ManagementVariant> {
  if ((delta === undefined) === (counted === undefined)) throw new AppError('INVALID', 'delta (body): give either delta or counted')
  const { clock, newId } = deps
  return audited(deps, by, { action: 'variant.stock_changed', subject: variantId }, async (tx, tell) => {
    const whole = await findToChange(tx, deps, by, productId, variantId)
    const before = variantOf(whole, variantId)
    const change = delta ?? (counted as number) - before.onHand
    const wanted = restockedVariant(before, change)
    const moved = await store.move(tx, { id: variantId, delta: change, was: counted === undefined ? undefined : before.onHand })
    if (!moved) throw new AppError('CONFLICT', 'The stock was changed at the same time: try again')
    const after = { ...wanted, ...moved }
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
    if (isLow(after) && !isLow(before)) await tellLow(tx, deps, [variantId])
    tell({ before: { onHand: before.onHand }, after: { onHand: after.onHand, delta: change } })
    if (isAvailable(before) !== isAvailable(after)) {
      const variants = whole.variants.map((one) => (one.id === variantId ? after : one))
      await renew(tx, deps, { ...whole, variants })
    }
    return { ...managementVariantView(after, whole.product.currency), version: whole.product.version }
  })
}

/** What the public sees follows, where it sees the product at all. */
async function renew(tx: Writer, { catalogStore, documents }: CatalogDeps, whole: Whole): Promise<void> {
  // An order that turns another variant of the product waits for this, or this for it: then it is done again, with what the order has left.
  await stockStore.lockProduct(tx, whole.product.id)
  tx.afterCommit(() => documents.forget(whole.product.id))
  await catalogStore.renewDocument(tx, renderedOf(whole))
}
