import type { Writer } from '../../../../db/engine.ts'
import { AppError } from '../../../core/errors.ts'
import { withImageUrls } from '../media/index.ts'
import { isAvailable, isLowStock, type Sellable, type Stock, shortageMessage } from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { renderProduct } from '../products/summary.ts'
import { publishLowStock } from './low-stock.ts'
import { type StockRow, stockStore as store } from './stock-store.ts'

export type StockLine = { variantId: string; quantity: number }

/** Reads a shop's variants of any status by id. Ids that the shop does not have are missing. */
export async function findSellables(
  deps: Pick<CatalogDeps, 'db' | 'config' | 'life'>,
  variantIds: readonly string[],
  shopId: string,
): Promise<Map<string, Sellable>> {
  if (variantIds.length === 0) return new Map()
  const found = await store.sellables(deps.db.read, [...new Set(variantIds)], shopId)
  return byVariant(deps, found)
}

/** Reads the variants of a cart in one query, which can run together with the cart's. */
export const findSellablesInCart = async (
  deps: Pick<CatalogDeps, 'db' | 'config' | 'life'>,
  cartId: string,
  shopId: string,
): Promise<Map<string, Sellable>> => byVariant(deps, await store.sellablesInCart(deps.db.read, cartId, shopId))

const byVariant = (deps: Pick<CatalogDeps, 'config' | 'life'>, found: readonly Sellable[]): Map<string, Sellable> =>
  new Map(
    found.map(({ variant, product }) => [variant.id, { variant, product: { ...product, images: withImageUrls(deps, product.images) } }]),
  )

type StockDeps = Pick<CatalogDeps, 'catalogStore' | 'documents' | 'clock' | 'newId'>

// Stock changes of orders, each inside the order's write. Missing variants are skipped, except by `reserveStock`. If
// the availability of a variant changes, its product's public document is rendered again.

/**
 * Reserves stock for all lines of an order, or for none.
 * @returns the ids of tracked variants; the others have no stock to release, commit or restock
 * @throws AppError CONFLICT, naming the product and the units left; the caller must then abort the write
 */
export async function reserveStock(tx: Writer, deps: StockDeps, lines: readonly StockLine[]): Promise<Set<string>> {
  const reserved = await Promise.all(
    mergeLines(lines).map(async ({ variantId, quantity }) => ({
      variantId,
      quantity,
      after: await store.reserve(tx, variantId, quantity),
    })),
  )
  for (const { variantId, after } of reserved) if (!after) await assertUncounted(tx, variantId)
  await updateDocuments(
    tx,
    deps,
    reserved.map(({ after, quantity }) => ({ after, before: after && { ...after, reserved: after.reserved - quantity } })),
  )
  return new Set(reserved.flatMap(({ variantId, after }) => (after ? [variantId] : [])))
}

/**
 * Reserves stock of variants that were just read, without waiting for the result. If their tracking changed or this
 * takes the last unit, the write throws NothingChanged.
 * @returns the ids of tracked variants
 */
export async function reserveKnownStock(
  tx: Writer,
  _deps: StockDeps,
  lines: readonly (StockLine & { readonly isTracked: boolean })[],
): Promise<Set<string>> {
  const tracked = new Set(lines.flatMap(({ variantId, isTracked }) => (isTracked ? [variantId] : [])))
  for (const { variantId, quantity } of mergeLines(lines)) await store.reserveKnown(tx, variantId, tracked.has(variantId) ? quantity : 0)
  return tracked
}

/** Releases reservations. */
export const releaseStock = (tx: Writer, deps: StockDeps, lines: readonly StockLine[]): Promise<void> =>
  applyToLines(tx, deps, { lines, change: store.release, undo: ({ reserved }, quantity) => ({ reserved: reserved + quantity }) })

/** Hands over reserved units: they leave the stock. */
export const commitStock = (tx: Writer, deps: StockDeps, lines: readonly StockLine[]): Promise<void> =>
  applyToLines(tx, deps, {
    lines,
    change: store.commit,
    undo: ({ onHand, reserved }, quantity) => ({ onHand: onHand + quantity, reserved: reserved + quantity }),
  })

/**
 * Hands over units that were just reserved, without waiting for the result. If they changed or the variant falls to its
 * threshold, the write throws NothingChanged.
 */
export async function commitPromisedStock(tx: Writer, _deps: StockDeps, lines: readonly StockLine[]): Promise<void> {
  for (const { variantId, quantity } of mergeLines(lines)) await store.commitPromised(tx, variantId, quantity)
}

/** Puts units back into stock. */
export const restock = (tx: Writer, deps: StockDeps, lines: readonly StockLine[]): Promise<void> =>
  applyToLines(tx, deps, { lines, change: store.restock, undo: ({ onHand }, quantity) => ({ onHand: onHand - quantity }) })

type StockOperation = {
  lines: readonly StockLine[]
  change: (tx: Writer, id: string, quantity: number) => Promise<StockRow | undefined>
  undo: (after: StockRow, quantity: number) => Partial<Stock>
}

async function applyToLines(tx: Writer, deps: StockDeps, { lines, change, undo }: StockOperation): Promise<void> {
  const changes = await Promise.all(
    mergeLines(lines).map(async ({ variantId, quantity }): Promise<StockTransition> => {
      const after = await change(tx, variantId, quantity)
      return { after, before: after && { ...after, ...undo(after, quantity) } }
    }),
  )
  await updateDocuments(tx, deps, changes)
  const low = changes.flatMap(({ before, after }) => (before && after && isLowStock(after) && !isLowStock(before) ? [after.id] : []))
  await publishLowStock(tx, deps, low)
}

async function assertUncounted(tx: Writer, variantId: string): Promise<void> {
  const [sellable] = await store.sellables(tx, [variantId])
  if (!sellable) throw new AppError('CONFLICT', 'A product of the order is no longer sold', { code: 'out_of_stock' })
  if (sellable.variant.trackInventory) throw new AppError('CONFLICT', shortageMessage(sellable), { code: 'out_of_stock' })
}

/** Renders the documents of products whose availability changed. */
async function updateDocuments(tx: Writer, { catalogStore, documents }: StockDeps, changes: readonly StockTransition[]): Promise<void> {
  const changed = changes.flatMap(({ before, after }) => (before && after && isAvailable(before) !== isAvailable(after) ? [after] : []))
  for (const productId of [...new Set(changed.map((row) => row.productId))].sort()) {
    // Locks the product, so that the second of two writes reads what the first one wrote.
    await store.lockProduct(tx, productId)
    const record = await catalogStore.findProductById(tx, productId)
    if (!record) continue
    tx.afterCommit(() => documents.invalidate(productId))
    await catalogStore.replaceDocument(tx, renderProduct(record))
  }
}

type StockTransition = { before: StockRow | undefined; after: StockRow | undefined }

/** Merges lines by variant and sorts by id, so that concurrent writes lock in the same order and cannot deadlock. */
function mergeLines(lines: readonly StockLine[]): StockLine[] {
  const quantities = new Map<string, number>()
  for (const { variantId, quantity } of lines) quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity)
  return [...quantities].map(([variantId, quantity]) => ({ variantId, quantity })).sort((a, b) => (a.variantId < b.variantId ? -1 : 1))
}
