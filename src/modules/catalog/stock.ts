import type { Writer } from '../../../db/engine.ts'
import { AppError } from '../../core/errors.ts'
import { documentOf, isAvailable, type Sellable, type Stock, shortageOf } from './domain.ts'
import type { CatalogDeps } from './service.ts'
import type { StockRow } from './store.ts'

export type StockLine = { variantId: string; quantity: number }

/** What orders do to the stock, each inside the order's write. A variant that is gone is passed over, except by `reserve`. */
export type StockWrites = {
  /**
   * Promises the lines to an order, all of them or none. Returns the ids of those that are counted: the others have no stock
   * to release, to commit or to restock later.
   * @throws AppError CONFLICT, naming the product and what is left of it; then the write must not go on
   */
  reserve(tx: Writer, lines: readonly StockLine[]): Promise<Set<string>>
  /** Takes promises back. */
  release(tx: Writer, lines: readonly StockLine[]): Promise<void>
  /** Hands over what was promised: it leaves the shelf. */
  commit(tx: Writer, lines: readonly StockLine[]): Promise<void>
  /** Undoes `commit`: what was handed over is promised again. */
  uncommit(tx: Writer, lines: readonly StockLine[]): Promise<void>
  /** Puts back on the shelf what was handed over. */
  restock(tx: Writer, lines: readonly StockLine[]): Promise<void>
}

/** Variants of a shop by their ids, whatever their status; those that the shop does not have are missing. */
export async function sellables(
  { catalogStore }: Pick<CatalogDeps, 'catalogStore'>,
  variantIds: readonly string[],
  shopId: string,
): Promise<Map<string, Sellable>> {
  if (variantIds.length === 0) return new Map()
  const found = await catalogStore.sellables([...new Set(variantIds)], shopId)
  return new Map(found.map((sellable) => [sellable.variant.id, sellable]))
}

/** The stock side of orders. Where a variant begins or ceases to be available, what the public sees of its product follows. */
export function prepareStock({ catalogStore: store, documents }: Pick<CatalogDeps, 'catalogStore' | 'documents'>): StockWrites {
  return {
    async reserve(tx, lines) {
      const counted = new Set<string>()
      const changes: Change[] = []
      for (const { variantId, quantity } of merged(lines)) {
        const after = await store.stock.reserve(tx, variantId, quantity)
        if (after) counted.add(variantId)
        else await assertUncounted(tx, variantId)
        changes.push({ after, before: after && { ...after, reserved: after.reserved - quantity } })
      }
      await follow(tx, changes)
      return counted
    },
    release: (tx, lines) => each(tx, lines, store.stock.release, ({ reserved }, quantity) => ({ reserved: reserved + quantity })),
    commit: (tx, lines) =>
      each(tx, lines, store.stock.commit, ({ onHand, reserved }, quantity) => ({
        onHand: onHand + quantity,
        reserved: reserved + quantity,
      })),
    uncommit: (tx, lines) =>
      each(tx, lines, store.stock.uncommit, ({ onHand, reserved }, quantity) => ({
        onHand: onHand - quantity,
        reserved: reserved - quantity,
      })),
    restock: (tx, lines) => each(tx, lines, store.stock.restock, ({ onHand }, quantity) => ({ onHand: onHand - quantity })),
  }

  async function each(
    tx: Writer,
    lines: readonly StockLine[],
    change: (tx: Writer, id: string, quantity: number) => Promise<StockRow | undefined>,
    undo: (after: StockRow, quantity: number) => Partial<Stock>,
  ): Promise<void> {
    const changes: Change[] = []
    for (const { variantId, quantity } of merged(lines)) {
      const after = await change(tx, variantId, quantity)
      changes.push({ after, before: after && { ...after, ...undo(after, quantity) } })
    }
    await follow(tx, changes)
  }

  async function assertUncounted(tx: Writer, variantId: string): Promise<void> {
    const [sellable] = await store.sellables([variantId], undefined, tx)
    if (!sellable) throw new AppError('CONFLICT', 'A product of the order is not sold any more')
    if (sellable.variant.trackInventory) throw new AppError('CONFLICT', shortageOf(sellable))
  }

  /** Renders the documents of products that a change made available, or took the last one of. */
  async function follow(tx: Writer, changes: readonly Change[]): Promise<void> {
    const flipped = changes.flatMap(({ before, after }) => (before && after && isAvailable(before) !== isAvailable(after) ? [after] : []))
    for (const productId of new Set(flipped.map((row) => row.productId))) {
      const whole = await store.wholeOf(tx, productId)
      if (!whole) continue
      tx.afterCommit(() => documents.forget(productId))
      await store.renewDocument(tx, documentOf(whole))
    }
  }
}

type Change = { before: Stock | undefined; after: StockRow | undefined }

/** A line a variant, in the order of the ids: writes that meet on several of them do not wait for each other in a ring. */
function merged(lines: readonly StockLine[]): StockLine[] {
  const quantities = new Map<string, number>()
  for (const { variantId, quantity } of lines) quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity)
  return [...quantities].map(([variantId, quantity]) => ({ variantId, quantity })).sort((a, b) => (a.variantId < b.variantId ? -1 : 1))
}
