import { and, asc, count, eq, getTableColumns, gt, gte, inArray, lte, ne, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Values, Writer } from '../../../../db/engine.ts'
import { countInBlock } from '../../../../db/list-pages.ts'
import { insertAllOf, insertOf, lockedRowsIn, lockedRowsOf, prepare, rowsOf, updateOf, valuesOf } from '../../../../db/prepared.ts'
import type { ProductFilter } from '../../../../db/product-filter.ts'
import { fewProducts, filteredProducts, type ProductSort } from '../../../../db/product-lists.ts'
import {
  collectionProducts,
  listingAnchors,
  listingChanges,
  productDocuments,
  productInnerPrices,
  productSummaries,
  products,
  productTags,
  variants,
} from '../../../../db/schema/catalog.ts'
import { shops } from '../../../../db/schema/shop.ts'
import { productSearch } from '../../../../db/search.ts'
import type { FoundProducts, SearchQuery } from '../../../../db/search-words.ts'
import { pick } from '../../../lib/objects.ts'
import { findByHandle } from '../../../lib/search-terms.ts'
import type { Product, ProductDocument, ProductWithVariants, SortOrder, Stock, Variant } from './domain.ts'
import { type Bucket, productRowOf } from './listing.ts'
import type { RenderedProduct } from './summary.ts'

export type { ProductFilter } from '../../../../db/product-filter.ts'
export type { ProductSort } from '../../../../db/product-lists.ts'
export type CatalogStore = ReturnType<typeof createCatalogStore>
export type ListingChange = typeof listingChanges.$inferSelect
type Queries = Pick<Reader, 'first' | 'all'>
/** A public document as the driver returns it. */
export type StoredDocument = {
  document: string
  etag: string
  visibleFrom: number
  shopId: string
  showQuantity: boolean
  origins: string[]
}

const lockedVariants = lockedRowsIn(variants, 'id')
const lockedProductById = lockedRowsOf(products, ['id'])
// Prepared, because an import runs them thousands of times.
const productQueries = {
  byId: rowsOf(products, ['id']),
  ofShop: rowsOf(products, ['id', 'shopId']),
  byHandle: rowsOf(products, ['shopId', 'handle']),
  variants: rowsOf(variants, ['productId'], asc(variants.position)),
  document: rowsOf(productDocuments, ['productId']),
  tags: rowsOf(productTags, ['productId'], asc(productTags.tag)),
  innerPrices: rowsOf(productInnerPrices, ['productId'], asc(productInnerPrices.price)),
}
const insertProduct = insertOf(products)
const insertVariants = insertAllOf(variants)
const insertTags = insertAllOf(productTags)
const insertInnerPrices = insertAllOf(productInnerPrices)
const insertChanges = insertAllOf(listingChanges)
const which = sql.placeholder('which')
const updateProduct = updateOf(products, and(eq(products.id, which), eq(products.version, sql.placeholder('versionBefore'))), ['id'])
const updateDocument = updateOf(productDocuments, eq(productDocuments.productId, which), ['productId'])
const updateTags = updateOf(productTags, eq(productTags.productId, which), ['productId'])
const updateMembers = updateOf(collectionProducts, eq(collectionProducts.productId, which), ['productId'])
const { productId: _, ...documentColumns } = getTableColumns(productDocuments)
const placeholders = (columns: object) => Object.fromEntries(Object.keys(columns).map((name) => [name, sql.placeholder(name)]))
const putDocument = prepare((queries) =>
  queries
    .insert(productDocuments)
    .values(placeholders(getTableColumns(productDocuments)) as Values as ProductDocument)
    .onConflictDoUpdate({ target: productDocuments.productId, set: placeholders(documentColumns) }),
)
const putSummary = prepare((queries) =>
  queries
    .insert(productSummaries)
    .values(placeholders(getTableColumns(productSummaries)) as Values as typeof productSummaries.$inferSelect)
    .onConflictDoUpdate({ target: productSummaries.productId, set: placeholders({ summary: productSummaries.summary }) }),
)
/** Columns of a document that its collections repeat. */
export const collectionColumns = ['visibleFrom', 'vendor', 'type', 'available', 'minPrice', 'maxPrice', 'tagBits', 'titleKey'] as const
const removeTags = prepare((queries) => queries.delete(productTags).where(eq(productTags.productId, sql.placeholder('productId'))))
const removeInnerPrices = prepare((queries) =>
  queries.delete(productInnerPrices).where(eq(productInnerPrices.productId, sql.placeholder('productId'))),
)
const keyColumns = { newest: productDocuments.newestKey, title: productDocuments.titleKey, price: productDocuments.priceKey } as const
const changeKeys = { newest: listingChanges.newestKey, title: listingChanges.titleKey, price: listingChanges.priceKey } as const
const sortOrders = ['newest', 'title', 'price'] as const

const documentById = prepare((queries) =>
  queries
    .select({
      document: productDocuments.document,
      etag: productDocuments.etag,
      visibleFrom: productDocuments.visibleFrom,
      shopId: productDocuments.shopId,
      showQuantity: shops.showQuantity,
      origins: shops.origins,
    })
    .from(productDocuments)
    .innerJoin(shops, eq(shops.id, productDocuments.shopId))
    .where(and(eq(productDocuments.productId, sql.placeholder('id')), ne(shops.status, 'SUSPENDED')))
    .limit(1),
)

const idByHandle = prepare((queries) =>
  queries
    .select({ id: products.id })
    .from(products)
    .where(valuesOf(products, ['shopId', 'handle']))
    .limit(1),
)

const pageFrom = (order: SortOrder, condition?: SQL) =>
  prepare((queries) =>
    queries
      .select({ id: productDocuments.productId })
      .from(productDocuments)
      .where(and(eq(productDocuments.shopId, sql.placeholder('shopId')), gte(keyColumns[order], sql.placeholder('key')), condition))
      .orderBy(asc(keyColumns[order]))
      .limit(sql.placeholder('limit'))
      .offset(sql.placeholder('offset')),
  )
// Without a condition, rows are skipped in the index alone.
const pages = { newest: pageFrom('newest'), title: pageFrom('title'), price: pageFrom('price') }
const visibleNow = lte(productDocuments.visibleFrom, sql.placeholder('now'))
const pagesOfVisible = { newest: pages.newest, title: pageFrom('title', visibleNow), price: pageFrom('price', visibleNow) }

export function createCatalogStore({ read }: Pick<Database, 'read'>) {
  /** Reads a text column of products by id. */
  const readTextsById = async (
    table: typeof productSummaries | typeof productDocuments,
    column: typeof productSummaries.summary | typeof productDocuments.document,
    ids: readonly string[],
  ) => {
    if (ids.length === 0) return new Map<string, string>()
    const rows = await read
      .select({ id: table.productId, text: column })
      .from(table)
      .where(inArray(table.productId, [...ids]))
    return new Map(rows.map(({ id, text }) => [id, text]))
  }

  return {
    /** Reads a product's document, visible or not. Undefined if its shop is suspended. */
    findDocument: (id: string) => read.first(documentById, { id }),

    /**
     * Reads anchors, changes, and documents that are not visible yet (`newestKey` of at least `hiddenFrom`) of one sort
     * order.
     * One statement, because a fold between two would lose what it folds.
     */
    async listing(
      shopId: string,
      order: SortOrder,
      hiddenFrom: string,
    ): Promise<{ anchors: Bucket[]; changes: Bucket[]; hidden: { key: string; visibleFrom: number }[] }> {
      const rows = await read.rows<{ kind: 'anchor' | 'change' | 'hidden'; key: string; documents: number; at: number }>(
        sql`select 'anchor' as kind, key, documents, 0 as at from listing_anchors where shop_id = ${shopId} and sort = ${order}
            union all select 'change', ${changeKeys[order]}, documents, 0 from listing_changes where shop_id = ${shopId}
            union all select 'hidden', ${keyColumns[order]}, 1, visible_from from product_documents where shop_id = ${shopId} and newest_key >= ${hiddenFrom}
            order by 1, 2`,
      )
      const of = (kind: string) => rows.filter((row) => row.kind === kind)
      return { anchors: of('anchor'), changes: of('change'), hidden: of('hidden').map(({ key, at }) => ({ key, visibleFrom: at })) }
    },
    /**
     * Returns document ids in ascending order from `key`; if some are `scheduled`, only visible ones. In order of age,
     * scheduled documents come last anyway.
     */
    async documentsFrom(
      shopId: string,
      order: SortOrder,
      { key, skip }: { key: string; skip: number },
      { now, limit, scheduled }: { now: number; limit: number; scheduled: boolean },
    ): Promise<string[]> {
      const rows = await read.all((scheduled ? pagesOfVisible : pages)[order], { shopId, key, now, limit, offset: skip })
      return rows.map(({ id }) => id)
    },

    filtered: (filter: ProductFilter, sort: ProductSort, page: { end: number; totalMax: number }) =>
      filteredProducts(read, filter, sort, page),
    /** Returns all products that match a filter; undefined if each condition has more than `most` candidates. */
    findCandidates: (filter: ProductFilter, most: number) => fewProducts(read, filter, most),

    search: (query: SearchQuery): Promise<FoundProducts> => productSearch.find(read, query),
    summariesOf: (ids: readonly string[]) => readTextsById(productSummaries, productSummaries.summary, ids),
    documentsOf: (ids: readonly string[]) => readTextsById(productDocuments, productDocuments.document, ids),

    async findProduct(shopId: string, id: string, from: Queries = read): Promise<ProductWithVariants | undefined> {
      const product = await from.first(productQueries.ofShop, { id, shopId })
      return product ? { product, variants: await variantsOf(from, id) } : undefined
    },
    async findByHandle(shopId: string, handle: string, from: Queries = read): Promise<ProductWithVariants | undefined> {
      const product = await findByHandle(handle, (form) => from.first(productQueries.byHandle, { shopId, handle: form }))
      return product ? { product, variants: await variantsOf(from, product.id) } : undefined
    },
    /** Returns those of `handles` that products of the shop have. */
    async takenHandles(tx: Writer, shopId: string, handles: readonly string[]): Promise<Set<string>> {
      const rows = await tx
        .select({ handle: products.handle })
        .from(products)
        .where(and(eq(products.shopId, shopId), inArray(products.handle, [...handles])))
      return new Set(rows.map(({ handle }) => handle))
    },

    async insert(tx: Writer, { product, variants: newVariants }: ProductWithVariants): Promise<void> {
      await insertProduct(tx, productRowOf({ product, variants: newVariants }))
      await insertVariants(tx, newVariants)
      await countInBlock(tx, { list: 'PRODUCTS', shopId: product.shopId }, product.id)
    },
    /** Locks a product's variants and then its row, in the order in which orders lock them. */
    async lockProduct(tx: Writer, { product: { id }, variants }: ProductWithVariants): Promise<void> {
      await lockedVariants(
        tx,
        variants.map(({ id }) => id),
      )
      await tx.first(lockedProductById, { id })
    },
    /** Returns whether an order has the product, whatever became of the order. */
    async isOrdered(tx: Writer, productId: string): Promise<boolean> {
      const rows = await tx.rows(sql`select 1 from order_lines where product_id = ${productId} limit 1`)
      return rows.length > 0
    },
    /** Removes a product. Foreign keys remove its variants, memberships and picture uses. */
    async remove(tx: Writer, { id, shopId }: Product): Promise<void> {
      await countInBlock(tx, { list: 'PRODUCTS', shopId }, id, -1)
      await tx.delete(products).where(eq(products.id, id))
    },
    /**
     * Changes stock relatively, and keeps variants with reservations. Returns undefined if the product has another
     * version.
     */
    async replace(
      tx: Writer,
      before: ProductWithVariants,
      { product, variants: newVariants }: ProductWithVariants,
    ): Promise<{ id: string } | undefined> {
      const keptIds = new Set(newVariants.map(({ id }) => id))
      const removedIds = before.variants.filter(({ id }) => !keptIds.has(id)).map(({ id }) => id)
      const variantById = new Map(before.variants.map((variant) => [variant.id, variant]))
      const changed = newVariants.flatMap((part) => {
        const variantBefore = variantById.get(part.id)
        return variantBefore && isChanged(variantBefore, part) ? part.id : []
      })
      // Locks variants before their product, in the order in which orders lock them.
      await lockedVariants(tx, [...removedIds, ...changed])
      const values = productRowOf({ product, variants: newVariants })
      const [row] = await updateProduct(tx, values, { which: product.id, versionBefore: before.product.version })
      if (!row) return undefined
      if (removedIds.length > 0) await tx.delete(variants).where(and(inArray(variants.id, removedIds), eq(variants.reserved, 0)))
      for (const part of newVariants) {
        const variantBefore = variantById.get(part.id)
        if (!variantBefore) await tx.insert(variants).values(part)
        else if (changed.includes(part.id))
          await tx.update(variants).set(variantUpdateOf(variantBefore, part)).where(eq(variants.id, part.id))
      }
      return row
    },

    async stocksOf(variantIds: readonly string[]): Promise<Map<string, Stock>> {
      const { id, hasPrice, trackInventory, allowBackorder, onHand, reserved } = variants
      const columns = { id, hasPrice, trackInventory, allowBackorder, onHand, reserved }
      const rows =
        variantIds.length === 0
          ? []
          : await read
              .select(columns)
              .from(variants)
              .where(inArray(variants.id, [...variantIds]))
      return new Map(rows.map((row) => [row.id, row]))
    },
    async idOfHandle(shopId: string, handle: string): Promise<string | undefined> {
      return (await findByHandle(handle, (form) => read.first(idByHandle, { shopId, handle: form })))?.id
    },
    /** Reads a product of any shop with its variants. */
    async findProductById(tx: Writer, productId: string): Promise<ProductWithVariants | undefined> {
      const product = await tx.first(productQueries.byId, { id: productId })
      return product ? { product, variants: await variantsOf(tx, productId) } : undefined
    },
    /**
     * Replaces document and summary after a change of availability, which does not change the product's position in
     * lists.
     */
    async replaceDocument(tx: Writer, { document: { productId, document, etag, available }, summary }: RenderedProduct): Promise<void> {
      const [row] = await updateDocument(tx, { document, etag, available }, { which: productId })
      // A draft has no document and no summary.
      if (!row) return
      await tx.run(putSummary, { productId, summary })
      await updateTags(tx, { available }, { which: productId })
      await updateMembers(tx, { available }, { which: productId })
    },
    async documentOf(tx: Writer, productId: string): Promise<ProductDocument | undefined> {
      return tx.first(productQueries.document, { productId })
    },
    async addToSearch(
      tx: Writer,
      { productId, shopId, visibleFrom }: ProductDocument,
      words: readonly string[],
      tags: readonly string[],
    ): Promise<void> {
      await productSearch.add(tx, { productId, shopId, visibleFrom, words, tags: tags.map((tag) => tag.toLowerCase()) })
    },
    async putDocument(
      tx: Writer,
      { document, summary }: RenderedProduct,
      { product: { tags }, variants }: ProductWithVariants,
    ): Promise<void> {
      const { productId, shopId, minPrice, maxPrice } = document
      await tx.run(putDocument, document)
      await tx.run(putSummary, { productId, summary })
      const isInner = (price: number) => price > minPrice && price < maxPrice
      const prices = [...new Set(variants.map(({ price }) => price))].filter(isInner).sort((a, b) => a - b)
      const storedPrices = (await tx.all(productQueries.innerPrices, { productId })).map(({ price }) => price)
      if (!Bun.deepEquals(prices, storedPrices)) {
        await tx.run(removeInnerPrices, { productId })
        await insertInnerPrices(
          tx,
          prices.map((price) => ({ productId, price, shopId })),
        )
      }
      const rows = tags.map((tag) => ({ ...document, tag: tag.toLowerCase() }))
      const stored = new Map((await tx.all(productQueries.tags, { productId })).map((row) => [row.tag, row]))
      // Most changes leave the tags and all columns that they repeat.
      if (stored.size === rows.length && rows.every((row) => isSameTag(row, stored.get(row.tag)))) return
      await tx.run(removeTags, { productId })
      await insertTags(tx, rows)
    },
    /** Replaces the search words of a product that an older program indexed. */
    async replaceSearchWords(tx: Writer, { product }: ProductWithVariants, words: readonly string[]): Promise<void> {
      const document = await tx.first(productQueries.document, { productId: product.id })
      if (!document) return
      const { productId, shopId, visibleFrom } = document
      await productSearch.renew(tx, { productId, shopId, visibleFrom, words, tags: product.tags.map((tag) => tag.toLowerCase()) })
    },
    /** Repeats a document's filter columns in the product's collections. `visibleFrom` is null without a document. */
    async updateCollections(tx: Writer, productId: string, document: ProductDocument | undefined): Promise<void> {
      const columns = document ? pick(document, ...collectionColumns) : { visibleFrom: null }
      await updateMembers(tx, columns, { which: productId })
    },
    /** Stores the summary and tag bits of a document from an older version. */
    async addToDocument(tx: Writer, productId: string, { summary, tagBits }: { summary: string; tagBits: number }): Promise<void> {
      await tx.run(putSummary, { productId, summary })
      await tx.update(productDocuments).set({ tagBits }).where(eq(productDocuments.productId, productId))
      await tx.update(collectionProducts).set({ tagBits }).where(eq(collectionProducts.productId, productId))
    },
    async removeDocument(tx: Writer, productId: string): Promise<void> {
      await tx.run(removeTags, { productId })
      await tx.run(removeInnerPrices, { productId })
      await tx.delete(productSummaries).where(eq(productSummaries.productId, productId))
      await tx.delete(productDocuments).where(eq(productDocuments.productId, productId))
    },
    /** Removes a product's search entry, before it is replaced or for good. */
    async removeFromSearch(tx: Writer, productId: string): Promise<void> {
      await productSearch.remove(tx, productId)
    },
    async appendChanges(tx: Writer, changes: ListingChange[]): Promise<void> {
      await insertChanges(tx, changes)
    },

    /** Returns the oldest changes that are not in the anchors yet. */
    async changesOf(tx: Writer, shopId: string, limit: number): Promise<ListingChange[]> {
      return tx.select().from(listingChanges).where(eq(listingChanges.shopId, shopId)).orderBy(asc(listingChanges.id)).limit(limit)
    },
    async removeChanges(tx: Writer, ids: readonly string[]): Promise<void> {
      await tx.delete(listingChanges).where(inArray(listingChanges.id, [...ids]))
    },
    anchors: (tx: Writer, shopId: string, order: SortOrder): Promise<Bucket[]> => anchorsOf(tx, shopId, order),
    async putAnchor(tx: Writer, shopId: string, sort: SortOrder, { key, documents }: Bucket): Promise<void> {
      await tx
        .insert(listingAnchors)
        .values({ shopId, sort, key, documents })
        .onConflictDoUpdate({ target: [listingAnchors.shopId, listingAnchors.sort, listingAnchors.key], set: { documents } })
    },
    async removeAnchor(tx: Writer, shopId: string, sort: SortOrder, key: string): Promise<void> {
      await tx
        .delete(listingAnchors)
        .where(and(eq(listingAnchors.shopId, shopId), eq(listingAnchors.sort, sort), eq(listingAnchors.key, key)))
    },
    /** Returns the key at a position counted from `key`. */
    async keyAt(tx: Writer, shopId: string, sort: SortOrder, key: string, position: number): Promise<string | undefined> {
      const [row] = await tx
        .select({ key: keyColumns[sort] })
        .from(productDocuments)
        .where(and(eq(productDocuments.shopId, shopId), gte(keyColumns[sort], key)))
        .orderBy(asc(keyColumns[sort]))
        .limit(1)
        .offset(position)
      return row?.key
    },
    /** Returns the shops with more than `most` changes to fold. */
    async shopsWithChanges(most: number): Promise<string[]> {
      const rows = await read
        .select({ shopId: listingChanges.shopId, n: count() })
        .from(listingChanges)
        .groupBy(listingChanges.shopId)
        .having(gt(count(), most))
      return rows.map(({ shopId }) => shopId)
    },
    sortOrders,
  }
}

type Tag = typeof productTags.$inferSelect
const tagColumns = Object.keys(getTableColumns(productTags)) as (keyof Tag)[]
const isSameTag = (row: Tag, stored: Tag | undefined): boolean => tagColumns.every((name) => row[name] === stored?.[name])

const isChanged = (before: Variant, after: Variant): boolean =>
  (Object.keys(after) as (keyof Variant)[]).some(
    (name) => before[name] !== after[name] && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )

/** Returns the columns to set: `reserved` is left to orders, and `onHand` changes relatively. */
const variantUpdateOf = ({ onHand: before }: Variant, { onHand, reserved: _, ...rest }: Variant) => ({
  ...rest,
  ...(onHand === before ? {} : { onHand: sql`${variants.onHand} + ${onHand - before}` }),
})

const anchorsOf = (from: Pick<Reader, 'select'>, shopId: string, sort: SortOrder): Promise<Bucket[]> =>
  Promise.resolve(
    from
      .select({ key: listingAnchors.key, documents: listingAnchors.documents })
      .from(listingAnchors)
      .where(and(eq(listingAnchors.shopId, shopId), eq(listingAnchors.sort, sort)))
      .orderBy(asc(listingAnchors.key)),
  )

const variantsOf = (from: Queries, productId: string): Promise<Variant[]> =>
  Promise.resolve(from.all(productQueries.variants, { productId }))
