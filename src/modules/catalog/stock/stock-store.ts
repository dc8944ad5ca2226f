import { and, eq, gt, gte, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { lockedRowsOf, prepare, prepareSure, prepareSureRead, valuesOf } from '../../../../db/prepared.ts'
import { products, variants } from '../../../../db/schema/catalog.ts'
import { cartLines } from '../../../../db/schema/selling.ts'
import type { Sellable, Stock, Variant } from '../products/domain.ts'

/** The stock of a variant after a change. */
export type StockRow = Stock & Pick<Variant, 'id' | 'productId' | 'lowStockAt'>
type Reads = Pick<Reader, 'all'>

const sellableColumns = {
  id: products.id,
  shopId: products.shopId,
  handle: products.handle,
  title: products.title,
  status: products.status,
  currency: products.currency,
  images: products.images,
  publishedAt: products.publishedAt,
}

const idAt = (at: number): string => `id${at}`
const quantity = sql.placeholder('quantity')
/** So many promises fewer, and never fewer than none. */
const fewerPromised = sql`case when ${variants.reserved} > ${quantity} then ${variants.reserved} - ${quantity} else 0 end`

/** One for each number of ids that was asked for: there are as many as lines in a cart. */
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
      .returning({
        id: variants.id,
        productId: variants.productId,
        lowStockAt: variants.lowStockAt,
        trackInventory: variants.trackInventory,
        allowBackorder: variants.allowBackorder,
        onHand: variants.onHand,
        reserved: variants.reserved,
      }),
  )
  return async (tx, id, quantity) => tx.first(changed, { id, quantity })
}
const enough = or(eq(variants.allowBackorder, true), gte(sql`${variants.onHand} - ${variants.reserved}`, quantity))
const counts = or(eq(variants.trackInventory, true), gte(variants.onHand, quantity))
const some = or(eq(variants.allowBackorder, true), gt(sql`${variants.onHand} - ${variants.reserved}`, quantity))
const reserveSome = prepareSure(
  (queries) =>
    queries
      .update(variants)
      .set({ reserved: sql`${variants.reserved} + ${quantity}` })
      .where(and(eq(variants.id, sql.placeholder('id')), eq(variants.trackInventory, true), some)),
  { row: 'id' },
)
const uncounted = prepareSureRead((queries) =>
  queries
    .select({ one: sql`1`.as('one') })
    .from(variants)
    .where(and(eq(variants.id, sql.placeholder('id')), eq(variants.trackInventory, false))),
)
/** That as many are left as to be no news: as `isLow` of the domain has it, before and after. */
const noNews = or(
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
          noNews,
        ),
      ),
  { row: 'id' },
)
/** Variants as they are sold, and changes of their stock: relative, so that no two writes can undo each other, and undefined when nothing was changed. */
export const stockStore = {
  /** Variants by their ids, each with its product, in no order; of a shop, or whosever they are. */
  async sellables(from: Reads, variantIds: readonly string[], shopId?: string): Promise<Sellable[]> {
    const ids = Object.fromEntries(variantIds.map((id, at) => [idAt(at), id]))
    const found: Sellable[] = await from.all(sellablesOf(variantIds.length), ids)
    return shopId === undefined ? found : found.filter(({ product }) => product.shopId === shopId)
  },

  /** The same of those that are in a cart. */
  async sellablesInCart(from: Reads, cartId: string, shopId: string): Promise<Sellable[]> {
    const found: Sellable[] = await from.all(sellablesInCart, { cartId })
    return found.filter(({ product }) => product.shopId === shopId)
  },

  /** Has a product to itself for the rest of a write. */
  async lockProduct(tx: Writer, id: string): Promise<void> {
    await tx.first(lockedProduct, { id })
  },

  /** Promises so many, where the variant is counted and has them or may be ordered ahead. */
  reserve: changeStock({ reserved: sql`${variants.reserved} + ${quantity}` }, and(eq(variants.trackInventory, true), enough)),
  /** The same where more of them are left than that, or it may be ordered ahead: it is as available after it as before. Else the write throws NothingChanged. */
  async reserveSome(tx: Writer, id: string, quantity: number): Promise<void> {
    await tx.run(reserveSome, { id, quantity })
  },
  /** Where a variant is gone or counted, the write throws NothingChanged. */
  async assertUncounted(tx: Writer, id: string): Promise<void> {
    await tx.run(uncounted, { id })
  },
  /** Takes a promise back. */
  release: changeStock({ reserved: fewerPromised }),
  /** Hands over what was promised. The count of a variant that is not counted any more may be anything, and stays above zero. */
  commit: changeStock({
    onHand: sql`case when ${counts} then ${variants.onHand} - ${quantity} else ${variants.onHand} end`,
    reserved: fewerPromised,
  }),
  /** The same of one that is counted and has as much promised: it is as available after it as before, and not few of a sudden. Else the write throws NothingChanged. */
  async commitPromised(tx: Writer, id: string, quantity: number): Promise<void> {
    await tx.run(commitPromised, { id, quantity })
  },
  restock: changeStock({ onHand: sql`${variants.onHand} + ${quantity}` }),
}
