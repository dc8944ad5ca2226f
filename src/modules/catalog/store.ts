import { and, asc, count, desc, eq, gt, gte, inArray, lte, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../db/engine.ts'
import { collectionProducts, listingAnchors, listingChanges, productDocuments, products, productTags, variants } from '../../../db/schema/catalog.ts'
import { productSearch, type SearchQuery } from '../../../db/search.ts'
import type { Product, ProductDocument, SortOrder, Variant, Whole } from './domain.ts'
import type { Bucket } from './listing.ts'

export type CatalogStore = ReturnType<typeof createCatalogStore>
export type ListingChange = typeof listingChanges.$inferSelect
type Queries = Pick<Reader, 'select'>

const keyColumns = { newest: productDocuments.newestKey, title: productDocuments.titleKey, price: productDocuments.priceKey } as const
const changeKeys = { newest: listingChanges.newestKey, title: listingChanges.titleKey, price: listingChanges.priceKey } as const
const sortOrders = ['newest', 'title', 'price'] as const

export function createCatalogStore({ read }: Pick<Database, 'read'>) {
  const documentById = read
    .select({ document: productDocuments.document, etag: productDocuments.etag, visibleFrom: productDocuments.visibleFrom, shopId: productDocuments.shopId })
    .from(productDocuments)
    .where(eq(productDocuments.productId, sql.placeholder('id')))
    .limit(1)
    .prepare()

  const pageFrom = (order: SortOrder) =>
    read
      .select({ document: productDocuments.document })
      .from(productDocuments)
      .where(and(eq(productDocuments.shopId, sql.placeholder('shopId')), gte(keyColumns[order], sql.placeholder('key'))))
      .orderBy(asc(keyColumns[order]))
      .limit(sql.placeholder('limit'))
      .offset(sql.placeholder('offset'))
      .prepare()
  const pages = { newest: pageFrom('newest'), title: pageFrom('title'), price: pageFrom('price') }

  const visible = (shopId: string, now: number) => and(eq(productDocuments.shopId, shopId), lte(productDocuments.visibleFrom, now))
  return {
    /** The public document of a product, whenever it becomes visible. */
    async findDocument(id: string) {
      const [row] = await documentById.execute({ id })
      return row
    },

    /** The shop's anchors and the changes since, of one sort order, sorted by key. */
    async listing(shopId: string, order: SortOrder): Promise<{ anchors: Bucket[]; changes: { key: string; documents: number }[] }> {
      return { anchors: await anchorsOf(read, shopId, order), changes: await read.select({ key: changeKeys[order], documents: listingChanges.documents }).from(listingChanges).where(eq(listingChanges.shopId, shopId)) }
    },
    /** How many documents have a `newestKey` of at least `key`: those that are not visible yet. */
    async countFrom(shopId: string, key: string): Promise<number> {
      const [row] = await read
        .select({ n: count() })
        .from(productDocuments)
        .where(and(eq(productDocuments.shopId, shopId), gte(productDocuments.newestKey, key)))
      return Number(row?.n ?? 0)
    },
    /** Documents in ascending order from `key` on. */
    async documentsFrom(shopId: string, order: SortOrder, { key, skip }: { key: string; skip: number }, limit: number): Promise<string[]> {
      const rows = await pages[order].execute({ shopId, key, limit, offset: skip })
      return rows.map(({ document }) => document)
    },

    /** A page of the visible documents that carry the tag, belong to the collection, or both; and how many do. */
    async filteredDocuments(
      { shopId, now, tag, collectionId }: { shopId: string; now: number; tag?: string | undefined; collectionId?: string | undefined },
      sort: { order: SortOrder; descending: boolean } | 'collection',
      { limit, offset }: { limit: number; offset: number },
    ): Promise<{ documents: string[]; total: number }> {
      // Joined from the filter's side: a rare tag of a large shop is a few rows.
      const ofTag = and(eq(productTags.productId, productDocuments.productId), eq(productTags.shopId, shopId), eq(productTags.tag, tag ?? ''))
      const ofCollection = and(eq(collectionProducts.productId, productDocuments.productId), eq(collectionProducts.collectionId, collectionId ?? ''))
      const order = sort === 'collection' ? asc(collectionProducts.position) : sort.descending ? desc(keyColumns[sort.order]) : asc(keyColumns[sort.order])
      const matching = <Columns extends Record<string, SQL | typeof productDocuments.document>>(columns: Columns) => {
        const all = read.select(columns).from(productDocuments).where(visible(shopId, now)).$dynamic()
        if (tag !== undefined) all.innerJoin(productTags, ofTag)
        if (collectionId !== undefined) all.innerJoin(collectionProducts, ofCollection)
        return all
      }
      const [totals] = await matching({ n: sql<number>`count(*)` })
      const rows = (await matching({ document: productDocuments.document }).orderBy(order).limit(limit).offset(offset)) as { document: string }[]
      return { documents: rows.map(({ document }) => document), total: Number(totals?.n ?? 0) }
    },

    search: (query: SearchQuery): Promise<string[]> => productSearch.find(read, query),
    /** The documents of these products, in the order of the ids. */
    async documentsOf(ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return []
      const rows = await read
        .select({ id: productDocuments.productId, document: productDocuments.document })
        .from(productDocuments)
        .where(inArray(productDocuments.productId, [...ids]))
      const byId = new Map(rows.map(({ id, document }) => [id, document]))
      return ids.flatMap((id) => byId.get(id) ?? [])
    },

    async findWhole(shopId: string, id: string, from: Queries = read): Promise<Whole | undefined> {
      const [product] = await from
        .select()
        .from(products)
        .where(and(eq(products.id, id), eq(products.shopId, shopId)))
        .limit(1)
      return product ? { product, variants: await variantsOf(from, id) } : undefined
    },
    async findByHandle(shopId: string, handle: string, from: Queries = read): Promise<Whole | undefined> {
      const [product] = await from
        .select()
        .from(products)
        .where(and(eq(products.shopId, shopId), eq(products.handle, handle)))
        .limit(1)
      return product ? { product, variants: await variantsOf(from, product.id) } : undefined
    },
    /** The shop's products for its own people, newest first. */
    async list(shopId: string, status: Product['status'] | undefined, { limit, offset }: { limit: number; offset: number }): Promise<{ wholes: Whole[]; total: number }> {
      const condition = and(eq(products.shopId, shopId), status ? eq(products.status, status) : undefined)
      const [totals] = await read.select({ n: count() }).from(products).where(condition)
      const rows = await read.select().from(products).where(condition).orderBy(desc(products.id)).limit(limit).offset(offset)
      const parts = rows.length === 0 ? [] : await read.select().from(variants).where(inArray(variants.productId, rows.map(({ id }) => id))).orderBy(asc(variants.productId), asc(variants.position))
      const byProduct = Map.groupBy(parts, ({ productId }) => productId)
      return { wholes: rows.map((product) => ({ product, variants: byProduct.get(product.id) ?? [] })), total: Number(totals?.n ?? 0) }
    },
    /** Handles of the shop that are `handle` or `handle-` and a number. */
    async handlesLike(tx: Writer, shopId: string, handle: string): Promise<string[]> {
      const rows = await tx
        .select({ handle: products.handle })
        .from(products)
        .where(and(eq(products.shopId, shopId), gte(products.handle, handle), lte(products.handle, `${handle}-:`)))
      return rows.map((row) => row.handle)
    },

    async insert(tx: Writer, { product, variants: parts }: Whole): Promise<void> {
      await tx.insert(products).values(product)
      await tx.insert(variants).values(parts)
    },
    async replace(tx: Writer, before: Whole, { product, variants: parts }: Whole): Promise<void> {
      await tx.update(products).set(product).where(eq(products.id, product.id))
      const kept = new Set(parts.map(({ id }) => id))
      const gone = before.variants.filter(({ id }) => !kept.has(id)).map(({ id }) => id)
      if (gone.length > 0) await tx.delete(variants).where(inArray(variants.id, gone))
      const known = new Map(before.variants.map((variant) => [variant.id, JSON.stringify(variant)]))
      for (const part of parts) {
        const old = known.get(part.id)
        if (old === undefined) await tx.insert(variants).values(part)
        else if (old !== JSON.stringify(part)) await tx.update(variants).set(part).where(eq(variants.id, part.id))
      }
    },

    async documentOf(tx: Writer, productId: string): Promise<ProductDocument | undefined> {
      const [document] = await tx.select().from(productDocuments).where(eq(productDocuments.productId, productId)).limit(1)
      return document
    },
    async putDocument(tx: Writer, document: ProductDocument, words: readonly string[], tags: readonly string[]): Promise<void> {
      const { productId, ...rest } = document
      await tx.insert(productDocuments).values(document).onConflictDoUpdate({ target: productDocuments.productId, set: rest })
      await productSearch.add(tx, { productId, shopId: document.shopId, visibleFrom: document.visibleFrom, words })
      const rows = tags.map((tag) => ({ shopId: document.shopId, tag: tag.toLowerCase(), productId }))
      if (rows.length > 0) await tx.insert(productTags).values(rows)
    },
    async removeDocument(tx: Writer, productId: string): Promise<void> {
      await tx.delete(productDocuments).where(eq(productDocuments.productId, productId))
    },
    /** Takes a product out of what is kept besides its document, before it is put back or is gone. */
    async forgetSearch(tx: Writer, productId: string): Promise<void> {
      await productSearch.remove(tx, productId)
      await tx.delete(productTags).where(eq(productTags.productId, productId))
    },
    async appendChanges(tx: Writer, changes: ListingChange[]): Promise<void> {
      await tx.insert(listingChanges).values(changes)
    },

    /** The oldest changes of a shop that are not in its anchors yet. */
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
      await tx.delete(listingAnchors).where(and(eq(listingAnchors.shopId, shopId), eq(listingAnchors.sort, sort), eq(listingAnchors.key, key)))
    },
    /** The key at a position counted from `key` on. */
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
    /** Shops with more than so many changes to fold. */
    async shopsWithChanges(most: number): Promise<string[]> {
      const rows = await read.select({ shopId: listingChanges.shopId, n: count() }).from(listingChanges).groupBy(listingChanges.shopId).having(gt(count(), most))
      return rows.map(({ shopId }) => shopId)
    },
    sortOrders,
  }
}

const anchorsOf = (from: Queries, shopId: string, sort: SortOrder): Promise<Bucket[]> =>
  Promise.resolve(
    from
      .select({ key: listingAnchors.key, documents: listingAnchors.documents })
      .from(listingAnchors)
      .where(and(eq(listingAnchors.shopId, shopId), eq(listingAnchors.sort, sort)))
      .orderBy(asc(listingAnchors.key)),
  )

const variantsOf = (from: Queries, productId: string): Promise<Variant[]> =>
  Promise.resolve(from.select().from(variants).where(eq(variants.productId, productId)).orderBy(asc(variants.position)))
