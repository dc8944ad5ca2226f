import { and, asc, count, desc, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { countRows, selectSlice } from '../../../../db/page-query.ts'
import { changeOf, insertOf, lockNames, prepare, prepareCheckedChange, rowsOf, rowsWhere, valuesOf } from '../../../../db/prepared.ts'
import { collectionProducts } from '../../../../db/schema/catalog.ts'
import { discounts, discountUses } from '../../../../db/schema/discounts.ts'
import { carts } from '../../../../db/schema/selling.ts'
import { createCache } from '../../../core/cache.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { automaticPerShopMax, type Discount, type DiscountUse, endedVisibleMs, type Offer, offerOf } from './domain.ts'

/** A shop's discounts as its carts need them. */
type ShopOffers = { readonly automatic: readonly Offer[]; readonly hasCodes: boolean }

const shopsMax = 1_000
const charactersMax = 16_000_000
/** Characters of an offer without its ids, and of each id. */
const offerCharacters = 500
const idCharacters = 80

const isNotRemoved = isNull(discounts.removedAt)
const byId = rowsOf(discounts, ['id', 'shopId'])
const byCode = rowsOf(discounts, ['shopId', 'codeKey'])
const parameter = (name: string) => sql.placeholder(name)
const hasNotEndedLongAgo = or(isNull(discounts.endsAt), gt(discounts.endsAt, parameter('since')))
const isAutomatic = and(sql`${discounts.codeKey} is null`, sql`${discounts.status} = 'ACTIVE'`, sql`${discounts.removedAt} is null`)
const automaticOf = prepare((queries) =>
  queries
    .select()
    .from(discounts)
    .where(and(valuesOf(discounts, ['shopId']), isAutomatic, hasNotEndedLongAgo))
    .orderBy(asc(discounts.id))
    .limit(2 * automaticPerShopMax),
)
const anyCode = prepare((queries) =>
  queries
    .select({ id: discounts.id })
    .from(discounts)
    .where(and(valuesOf(discounts, ['shopId']), sql`${discounts.codeKey} is not null`))
    .limit(1),
)
const codeOfCart = sql`(select ${carts.discountCode} from ${carts} where ${carts.id} = ${parameter('cartId')})`
const ofCartsCode = rowsWhere(discounts, and(valuesOf(discounts, ['shopId']), sql`${discounts.codeKey} = ${codeOfCart}`))
/** Both in one query, for engines without the cache. */
const ofCart = prepare((queries) =>
  queries
    .select()
    .from(discounts)
    .where(and(valuesOf(discounts, ['shopId']), or(and(isAutomatic, hasNotEndedLongAgo), sql`${discounts.codeKey} = ${codeOfCart}`)))
    .orderBy(asc(discounts.id))
    .limit(2 * automaticPerShopMax + 1),
)
const usesOf = prepare((queries) =>
  queries
    .select({ n: count().as('n') })
    .from(discountUses)
    .where(valuesOf(discountUses, ['discountId', 'mode', 'customer'])),
)
const use = prepareCheckedChange((queries) =>
  queries
    .update(discounts)
    .set({ used: sql`${discounts.used} + 1` })
    .where(
      and(
        valuesOf(discounts, ['id']),
        isNotRemoved,
        eq(discounts.status, 'ACTIVE'),
        or(isNull(discounts.endsAt), gt(discounts.endsAt, parameter('now'))),
        sql`${discounts.used} < ${discounts.usageLimit}`,
      ),
    ),
)
const giveBackUse = prepare((queries) =>
  queries
    .update(discounts)
    .set({ used: sql`${discounts.used} - 1` })
    .where(and(valuesOf(discounts, ['id']), sql`${discounts.usageLimit} is not null`, gt(discounts.used, 0))),
)
const insertDiscount = insertOf(discounts)
const usesOfOrder = rowsOf(discountUses, ['orderId'], asc(discountUses.discountId))
const saveDiscount = changeOf(discounts, and(eq(discounts.id, parameter('which')), eq(discounts.version, parameter('was'))))
const forUpdate = engine === 'postgres' ? sql` for update` : sql``

/** Queries for pairs of products and collections, one for each pair of powers of two. */
const inCollectionsByCount = new Map<string, ReturnType<typeof inCollections>>()
const nameAt = (what: string, at: number) => `${what}${at}`
const placeholders = (what: string, many: number) =>
  sql.join(
    Array.from({ length: many }, (_, at) => parameter(nameAt(what, at))),
    sql`, `,
  )
const inCollections = (productCount: number, collectionCount: number) =>
  prepare((queries) =>
    queries
      .select({ productId: collectionProducts.productId, collectionId: collectionProducts.collectionId })
      .from(collectionProducts)
      .where(
        and(
          sql`${collectionProducts.collectionId} in (${placeholders('collection', collectionCount)})`,
          sql`${collectionProducts.productId} in (${placeholders('product', productCount)})`,
        ),
      ),
  )
/** In one statement. */
const collectionsPerQuery = 64
const nextPowerOfTwo = (many: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, many)))
/** Binds values to placeholders; the last value fills the rest. */
const inList = (what: string, values: readonly string[], many: number) =>
  Object.fromEntries(Array.from({ length: many }, (_, at) => [nameAt(what, at), values[at] ?? values.at(-1)]))

export function createDiscountStore({ read, foreignVersion }: Pick<Database, 'read' | 'foreignVersion'>) {
  /** By shop. Every function below that changes a discount drops its shop's entry. */
  const offersByShop = createCache<ShopOffers>({
    version: foreignVersion,
    entriesMax: shopsMax,
    charactersMax,
    charactersOf: ({ automatic }) =>
      automatic.reduce(
        (sum, { of }) => sum + offerCharacters + (of ? idCharacters * (of.products.size + of.collections.size) : 0),
        offerCharacters,
      ),
  })
  const changed = (tx: Writer, shopId: string): void => tx.afterCommit(() => offersByShop.delete(shopId))

  function readOffers(shopId: string, now: number): ShopOffers | Promise<ShopOffers> {
    const [automatic, coded] = [read.all(automaticOf, { shopId, since: now - endedVisibleMs }), read.first(anyCode, { shopId })]
    if (automatic instanceof Promise || coded instanceof Promise)
      return Promise.all([automatic, coded]).then(([some, any]) => ({ automatic: some.map(offerOf), hasCodes: any !== undefined }))
    return { automatic: automatic.map(offerOf), hasCodes: coded !== undefined }
  }

  return {
    /** Reads a shop's automatic discounts and the one of a cart's code, in one query. */
    async ofCart(shopId: string, cartId: string, now: number): Promise<readonly Offer[]> {
      if (!offersByShop.isEnabled()) return (await read.all(ofCart, { shopId, cartId, since: now - endedVisibleMs })).map(offerOf)
      const found = offersByShop.getOrLoad(shopId, () => readOffers(shopId, now))
      const { automatic, hasCodes } = (found instanceof Promise ? await found : found) as ShopOffers
      if (!hasCodes) return automatic
      const coded = await read.first(ofCartsCode, { shopId, cartId })
      return coded ? [...automatic, offerOf(coded)] : automatic
    },
    async findByCode(shopId: string, codeKey: string): Promise<Offer | undefined> {
      const found = await read.first(byCode, { shopId, codeKey })
      return found && offerOf(found)
    },
    /** Returns which of the products are in which of the collections. */
    async collectionsOf(productIds: readonly string[], collectionIds: readonly string[]): Promise<Map<string, Set<string>>> {
      const found = new Map<string, Set<string>>()
      const productCount = nextPowerOfTwo(productIds.length)
      const products = inList('product', productIds, productCount)
      for (let from = 0; from < collectionIds.length; from += collectionsPerQuery) {
        const some = collectionIds.slice(from, from + collectionsPerQuery)
        const collectionCount = nextPowerOfTwo(some.length)
        const query = inCollectionsByCount.getOrInsertComputed(`${productCount} ${collectionCount}`, () =>
          inCollections(productCount, collectionCount),
        )
        const rows = await read.all(query, { ...products, ...inList('collection', some, collectionCount) })
        for (const { productId, collectionId } of rows) found.getOrInsertComputed(productId, () => new Set()).add(collectionId)
      }
      return found
    },
    /** Counts a customer's uses of a discount, by orders of a mode. */
    async usesOf(
      { discountId, customer, mode }: Pick<DiscountUse, 'discountId' | 'customer' | 'mode'>,
      from: Pick<Reader, 'first'> = read,
    ): Promise<number> {
      return Number((await from.first(usesOf, { discountId, customer, mode }))?.n ?? 0)
    },

    async find(shopId: string, id: string, from: Pick<Reader, 'first'> = read): Promise<Discount | undefined> {
      const found = await from.first(byId, { id, shopId })
      return found?.removedAt === null ? found : undefined
    },
    /** Newest first. */
    list: (shopId: string, slice: PageSlice) =>
      selectSlice(read, discounts, { where: and(eq(discounts.shopId, shopId), isNotRemoved), order: [desc(discounts.id)], ...slice }),
    /** Locks the discounts of a shop to count them: a new one has no row to lock. */
    holdAll(tx: Writer, shopId: string): void {
      lockNames(tx, [`discounts ${shopId}`])
    },
    /** Counts a shop's discounts, and its automatic ones that have not ended. */
    async counts(tx: Writer, shopId: string, now: number): Promise<{ all: number; automatic: number }> {
      const countOf = async (where: SQL | undefined) => {
        const [row] = await tx
          .select({ n: count() })
          .from(discounts)
          .where(and(eq(discounts.shopId, shopId), where))
        return Number(row?.n ?? 0)
      }
      const automatic = and(isAutomatic, or(isNull(discounts.endsAt), gt(discounts.endsAt, now)))
      return { all: await countOf(isNotRemoved), automatic: await countOf(automatic) }
    },
    async insert(tx: Writer, discount: Discount): Promise<void> {
      await insertDiscount(tx, discount)
      changed(tx, discount.shopId)
    },
    /** Locks a discount: no order uses it until the write ends. */
    async lock(tx: Writer, id: string): Promise<void> {
      await tx.rows(sql`select id from discounts where id = ${id}${forUpdate}`)
    },
    /** Stores a discount if its version is unchanged; false otherwise. */
    async save(tx: Writer, { id, ...after }: Discount, before: Discount): Promise<boolean> {
      changed(tx, after.shopId)
      return saveDiscount(tx, after, { which: id, was: before.version })
    },
    /** Counts the orders of a mode that use it. */
    countUses: (tx: Writer, discountId: string, mode: DiscountUse['mode']): Promise<number> =>
      countRows(tx, discountUses, and(eq(discountUses.discountId, discountId), eq(discountUses.mode, mode))),
    /** Disables all active discounts of a shop and resets their uses. Returns their number. */
    async disableAll(tx: Writer, shopId: string, updatedAt: number): Promise<number> {
      changed(tx, shopId)
      await tx.update(discounts).set({ used: 0 }).where(eq(discounts.shopId, shopId))
      const disabled = await tx
        .update(discounts)
        .set({ status: 'DISABLED', updatedAt, version: sql`${discounts.version} + 1` })
        .where(and(eq(discounts.shopId, shopId), isNotRemoved, eq(discounts.status, 'ACTIVE')))
        .returning({ id: discounts.id })
      return disabled.length
    },
    /** Deletes discounts that were removed before a moment and that no order uses. Returns their number. */
    async forgetRemoved(tx: Writer, before: number, limit: number): Promise<number> {
      const deleted = await tx.rows(sql`
        delete from discounts where id in (
          select id from discounts where removed_at < ${before}
            and not exists (select 1 from discount_uses where discount_id = discounts.id) limit ${limit})
        returning 1 as done`)
      return deleted.length
    },

    /** Counts a use of a limited discount and locks it; false if it is used up, ended or gone. */
    async use(tx: Writer, { id, shopId }: Pick<Discount, 'id' | 'shopId'>, now: number): Promise<boolean> {
      changed(tx, shopId)
      return (await tx.first(use, { id, now })) !== undefined
    },
    /** Locks a customer's uses of a discount for the rest of the write. */
    holdUses(tx: Writer, uses: readonly Pick<DiscountUse, 'discountId' | 'customer'>[]): void {
      lockNames(
        tx,
        uses.map(({ discountId, customer }) => `discount ${discountId} ${customer}`),
      )
    },
    insertUse: insertOf(discountUses),
    /** Returns an order's uses, so that limited discounts can be used again. */
    async giveBack(tx: Writer, { orderId, shopId }: { orderId: string; shopId: string }): Promise<void> {
      const uses = await tx.all(usesOfOrder, { orderId })
      if (uses.length === 0) return
      changed(tx, shopId)
      for (const { discountId: id } of uses) await tx.run(giveBackUse, { id })
      await tx.delete(discountUses).where(eq(discountUses.orderId, orderId))
    },
  }
}
