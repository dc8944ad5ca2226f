import type { Writer } from '../../../../db/engine.ts'
import { AppError } from '../../../core/errors.ts'
import { withImageAddresses } from '../media/index.ts'
import { isAvailable, isLow, type Sellable, type Stock, shortageOf } from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { renderedOf } from '../products/summary.ts'
import { tellLow } from './low-stock.ts'
import { type StockRow, stockStore as store } from './stock-store.ts'

export type StockLine = { variantId: string; quantity: number }

/** Variants of a shop by their ids, whatever their status; those that the shop does not have are missing. */
export async function sellables(
  deps: Pick<CatalogDeps, 'db' | 'config' | 'life'>,
  variantIds: readonly string[],
  shopId: string,
): Promise<Map<string, Sellable>> {
  if (variantIds.length === 0) return new Map()
  const found = await store.sellables(deps.db.read, [...new Set(variantIds)], shopId)
  return byVariant(deps, found)
}

/** The variants that are in a cart, asked in one go: it may be asked together with the cart. */
export const sellablesInCart = async (
  deps: Pick<CatalogDeps, 'db' | 'config' | 'life'>,
  cartId: string,
  shopId: string,
): Promise<Map<string, Sellable>> => byVariant(deps, await store.sellablesInCart(deps.db.read, cartId, shopId))

const byVariant = (deps: Pick<CatalogDeps, 'config' | 'life'>, found: readonly Sellable[]): Map<string, Sellable> =>
  new Map(
    found.map(({ variant, product }) => [
      variant.id,
      { variant, product: { ...product, images: withImageAddresses(deps, product.images) } },
    ]),
  )

type StockDeps = Pick<CatalogDeps, 'catalogStore' | 'documents' | 'clock' | 'newId'>

// What orders do to the stock, each inside the order's write. A variant that is gone is passed over, except by `reserveStock`.
// Where a variant begins or ceases to be available, what the public sees of its product follows.

/**
 * Promises the lines to an order, all of them or none.
 * @returns the ids of those that are counted: the others have no stock to release, to commit or to restock later
 * @throws AppError CONFLICT, naming the product and what is left of it; then the write must not go on
 */
export async function reserveStock(tx: Writer, deps: StockDeps, lines: readonly StockLine[]): Promise<Set<string>> {
  const reserved = await Promise.all(
    merged(lines).map(async ({ variantId, quantity }) => ({ variantId, quantity, after: await store.reserve(tx, variantId, quantity) })),
  )
  for (const { variantId, after } of reserved) if (!after) await assertUncounted(tx, variantId)
  await follow(
    tx,
    deps,
    reserved.map(({ after, quantity }) => ({ after, before: after && { ...after, reserved: after.reserved - quantity } })),
  )
  return new Set(reserved.flatMap(({ variantId, after }) => (after ? [variantId] : [])))
}

/**
 * The same of variants that were read just now, without waiting for it: if one is counted otherwise than it was then, or this takes the last
 * of it, the write throws NothingChanged.
 * @returns as `reserveStock`
 */
export async function reserveKnownStock(
  tx: Writer,
  _deps: StockDeps,
  lines: readonly (StockLine & { readonly isCounted: boolean })[],
): Promise<Set<string>> {
  const counted = new Set(lines.flatMap(({ variantId, isCounted }) => (isCounted ? [variantId] : [])))
  for (const { variantId, quantity } of merged(lines)) {
    if (counted.has(variantId)) await store.reserveSome(tx, variantId, quantity)
    else await store.assertUncounted(tx, variantId)
  }
  return counted
}

/** Takes promises back. */
export const releaseStock = (tx: Writer, deps: StockDeps, lines: readonly StockLine[]): Promise<void> =>
  each(tx, deps, { lines, change: store.release, undo: ({ reserved }, quantity) => ({ reserved: reserved + quantity }) })

/** Hands over what was promised: it leaves the shelf. */
export const commitStock = (tx: Writer, deps: StockDeps, lines: readonly StockLine[]): Promise<void> =>
  each(tx, deps, {
    lines,
    change: store.commit,
    undo: ({ onHand, reserved }, quantity) => ({ onHand: onHand + quantity, reserved: reserved + quantity }),
  })

/** The same of what was promised just now, without waiting for it: if it is not as it was then, or leaves few where there were more, the write throws NothingChanged. */
export async function commitPromisedStock(tx: Writer, _deps: StockDeps, lines: readonly StockLine[]): Promise<void> {
  for (const { variantId, quantity } of merged(lines)) await store.commitPromised(tx, variantId, quantity)
}

/** Puts back on the shelf what was handed over. */
export const restock = (tx: Writer, deps: StockDeps, lines: readonly StockLine[]): Promise<void> =>
  each(tx, deps, { lines, change: store.restock, undo: ({ onHand }, quantity) => ({ onHand: onHand - quantity }) })

type Each = {
  lines: readonly StockLine[]
  change: (tx: Writer, id: string, quantity: number) => Promise<StockRow | undefined>
  undo: (after: StockRow, quantity: number) => Partial<Stock>
}

async function each(tx: Writer, deps: StockDeps, { lines, change, undo }: Each): Promise<void> {
  const changes = await Promise.all(
    merged(lines).map(async ({ variantId, quantity }): Promise<Change> => {
      const after = await change(tx, variantId, quantity)
      return { after, before: after && { ...after, ...undo(after, quantity) } }
    }),
  )
  await follow(tx, deps, changes)
  const low = changes.flatMap(({ before, after }) => (before && after && isLow(after) && !isLow(before) ? [after.id] : []))
  await tellLow(tx, deps, low)
}

async function assertUncounted(tx: Writer, variantId: string): Promise<void> {
  const [sellable] = await store.sellables(tx, [variantId])
  if (!sellable) throw new AppError('CONFLICT', 'A product of the order is not sold any more')
  if (sellable.variant.trackInventory) throw new AppError('CONFLICT', shortageOf(sellable))
}

/** Renders the documents of products that a change made available, or took the last one of. */
async function follow(tx: Writer, { catalogStore, documents }: StockDeps, changes: readonly Change[]): Promise<void> {
  const flipped = changes.flatMap(({ before, after }) => (before && after && isAvailable(before) !== isAvailable(after) ? [after] : []))
  for (const productId of [...new Set(flipped.map((row) => row.productId))].sort()) {
    // Of two that turn variants of one product the second reads what the first has written.
    await store.lockProduct(tx, productId)
    const whole = await catalogStore.wholeOf(tx, productId)
    if (!whole) continue
    tx.afterCommit(() => documents.forget(productId))
    await catalogStore.renewDocument(tx, renderedOf(whole))
  }
}

type Change = { before: StockRow | undefined; after: StockRow | undefined }

/** A line a variant, in the order of the ids: writes that meet on several of them do not wait for each other in a ring. */
function merged(lines: readonly StockLine[]): StockLine[] {
  const quantities = new Map<string, number>()
  for (const { variantId, quantity } of lines) quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity)
  return [...quantities].map(([variantId, quantity]) => ({ variantId, quantity })).sort((a, b) => (a.variantId < b.variantId ? -1 : 1))
}
