import { and, eq, gt, gte, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { lockedRowsOf, prepare, prepareSure, valuesOf } from '../../../../db/prepared.ts'
import { products, variants } from '../../../../db/schema/catalog.ts'
import { cartLines } from '../../../../db/schema/selling.ts'
import { pick } from '../../../lib/objects.ts'
import type { Sellable, Stock, Variant } from '../products/domain.ts'

/** The stock of a variant after a change. */
export type StockRow = Stock & Pick<Variant, 'id' | 'productId' | 'lowStockAt'>
type Reads = Pick<Reader, 'all'>

const sellableColumns = pick(products, 'id', 'shopId', 'handle', 'title', 'status', 'kind', 'currency', 'images', 'publishedAt')

const idAt = (at: number): string => `id${at}`
const quantity = sql.placeholder('quantity')
/** Subtracts from `reserved`, not below zero. */
const fewerReserved = sql`case when ${variants.reserved} > ${quantity} then ${variants.reserved} - ${quantity} else 0 end`

/** One prepared query per number of ids, because carts have different numbers of lines. */
const sellablesByCount = new Map<number, ReturnType<typeof sellablesFor>>()
const sellablesOf = (count: number) => sellablesByCount.getOrInsertComputed(count, sellablesFor)
const sellablesFor = (count: number) =>
  prepare((queries) =>
    queries
      .select({ variant: variants, product: sellableColumns })
      .from(variants)
      .innerJoin(products, eq(products.id, variants.productId))
      .where(
        inArray(
          variants.id,
          Array.from({ length: count }, (_, at) => sql.placeholder(idAt(at))),
        ),
      ),
  )

const sellablesInCart = prepare((queries) =>
  queries
    .select({ variant: variants, product: sellableColumns })
    .from(cartLines)
    .innerJoin(variants, eq(variants.id, cartLines.variantId))
    .innerJoin(products, eq(products.id, variants.productId))
    .where(valuesOf(cartLines, ['cartId'])),
)

const lockedProduct = lockedRowsOf(products, ['id'])

const changeStock = (
  change: { onHand?: SQL; reserved?: SQL },
  guard?: SQL,
): ((tx: Writer, id: string, quantity: number) => Promise<StockRow | undefined>) => {
  const changed = prepare((queries) =>
    queries
      .update(variants)
      .set(change)
      .where(and(eq(variants.id, sql.placeholder('id')), guard))
      .returning(pick(variants, 'id', 'productId', 'lowStockAt', 'trackInventory', 'allowBackorder', 'onHand', 'reserved')),
  )
  return async (tx, id, quantity) => tx.first(changed, { id, quantity })
}
const hasEnough = or(eq(variants.allowBackorder, true), gte(sql`${variants.onHand} - ${variants.reserved}`, quantity))
const canSubtract = or(eq(variants.trackInventory, true), gte(variants.onHand, quantity))
const leavesSome = or(eq(variants.allowBackorder, true), gt(sql`${variants.onHand} - ${variants.reserved}`, quantity))
const isTracked = eq(variants.trackInventory, true)
const reserveKnown = prepareSure(
  (queries) =>
    queries
      .update(variants)
      .set({ reserved: sql`${variants.reserved} + ${quantity}` })
      .where(
        and(
          eq(variants.id, sql.placeholder('id')),
          sql`case when ${isTracked} then ${quantity} > 0 and ${leavesSome} else ${quantity} = 0 end`,
        ),
      ),
  { row: 'id' },
)
/** The variant does not fall to its threshold by this change; see `isLowStock`. */
const staysAboveThreshold = or(
  isNull(variants.lowStockAt),
  lte(variants.onHand, variants.lowStockAt),
  gt(sql`${variants.onHand} - ${quantity}`, variants.lowStockAt),
)
const commitPromised = prepareSure(
  (queries) =>
    queries
      .update(variants)
      .set({ onHand: sql`${variants.onHand} - ${quantity}`, reserved: sql`${variants.reserved} - ${quantity}` })
      .where(
        and(
          eq(variants.id, sql.placeholder('id')),
          eq(variants.trackInventory, true),
          gte(variants.onHand, quantity),
          gte(variants.reserved, quantity),
          staysAboveThreshold,
        ),
      ),
  { row: 'id' },
)
/**
 * Reads variants for a sale and changes their stock. Changes are relative, so concurrent writes cannot undo each other,
 * and return undefined if nothing changed.
 */
export const stockStore = {
  /** Reads variants with their products, in no order; of one shop if given. */
  async sellables(from: Reads, variantIds: readonly string[], shopId?: string): Promise<Sellable[]> {
    const ids = Object.fromEntries(variantIds.map((id, at) => [idAt(at), id]))
    const found: Sellable[] = await from.all(sellablesOf(variantIds.length), ids)
    return shopId === undefined ? found : found.filter(({ product }) => product.shopId === shopId)
  },

  /** Reads the variants in a cart. */
  async sellablesInCart(from: Reads, cartId: string, shopId: string): Promise<Sellable[]> {
    const found: Sellable[] = await from.all(sellablesInCart, { cartId })
    return found.filter(({ product }) => product.shopId === shopId)
  },

  /** Locks a product until the end of the write. */
  async lockProduct(tx: Writer, id: string): Promise<void> {
    await tx.first(lockedProduct, { id })
  },

  /** Reserves units of a tracked variant that has them or takes backorders. */
  reserve: changeStock({ reserved: sql`${variants.reserved} + ${quantity}` }, and(eq(variants.trackInventory, true), hasEnough)),
  /**
   * Reserves units of a tracked variant if more remain or backorders are allowed, so that availability does not change;
   * 0 of an untracked one. Otherwise the write throws NothingChanged.
   */
  async reserveKnown(tx: Writer, id: string, quantity: number): Promise<void> {
    await tx.run(reserveKnown, { id, quantity })
  },
  /** Releases a reservation. */
  release: changeStock({ reserved: fewerReserved }),
  /** Hands over reserved units. Stock that is no longer tracked may be any number, and stays at or above zero. */
  commit: changeStock({
    onHand: sql`case when ${canSubtract} then ${variants.onHand} - ${quantity} else ${variants.onHand} end`,
    reserved: fewerReserved,
  }),
  /**
   * Hands over reserved units of a tracked variant if it does not fall to its threshold. Otherwise the write throws
   * NothingChanged.
   */
  async commitPromised(tx: Writer, id: string, quantity: number): Promise<void> {
    await tx.run(commitPromised, { id, quantity })
  },
  restock: changeStock({ onHand: sql`${variants.onHand} + ${quantity}` }),
}
