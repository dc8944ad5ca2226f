import { and, asc, desc, eq, inArray, lte, or, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../db/engine.ts'
import { rowsOf, updateOf } from '../../../db/prepared.ts'
import { collectionProducts, collections, productDocuments, products } from '../../../db/schema/catalog.ts'
import { selectSlice } from '../../../db/slice.ts'
import type { Slice } from '../../lib/page.ts'

export type Collection = typeof collections.$inferSelect

const byId = rowsOf(collections, ['id', 'shopId'])
const changeCollection = updateOf(
  collections,
  and(eq(collections.id, sql.placeholder('which')), eq(collections.version, sql.placeholder('was'))),
)

export const createCollectionStore = ({ read }: Pick<Database, 'read'>) => ({
  async find(shopId: string, id: string, from: Pick<Reader, 'first'> = read): Promise<Collection | undefined> {
    return from.first(byId, { id, shopId })
  },
  /** A collection that the public sees, by id or handle. */
  async findPublished(shopId: string, idOrHandle: string, now: number): Promise<Collection | undefined> {
    const named = or(eq(collections.id, idOrHandle), eq(collections.handle, idOrHandle))
    const [collection] = await read
      .select()
      .from(collections)
      .where(and(eq(collections.shopId, shopId), named, lte(collections.publishedAt, now)))
      .limit(1)
    return collection
  },
  list: (shopId: string, slice: Slice) =>
    selectSlice(read, collections, { where: eq(collections.shopId, shopId), order: [desc(collections.id)], ...slice }),
  listPublished(shopId: string, now: number, slice: Slice): Promise<{ rows: Collection[]; total: number }> {
    const where = and(eq(collections.shopId, shopId), lte(collections.publishedAt, now))
    return selectSlice(read, collections, { where, order: [desc(collections.publishedAt), asc(collections.id)], ...slice })
  },
  /** The first visible documents of a collection, in its order. */
  async firstDocuments(collectionId: string, now: number, limit: number): Promise<string[]> {
    const rows = await read
      .select({ document: productDocuments.document })
      .from(collectionProducts)
      .innerJoin(productDocuments, eq(productDocuments.productId, collectionProducts.productId))
      .where(and(eq(collectionProducts.collectionId, collectionId), lte(productDocuments.visibleFrom, now)))
      .orderBy(asc(collectionProducts.position))
      .limit(limit)
    return rows.map(({ document }) => document)
  },
  async productIds(collectionId: string, limit: number, from: Pick<Reader, 'select'> = read): Promise<string[]> {
    const rows = await from
      .select({ id: collectionProducts.productId })
      .from(collectionProducts)
      .where(eq(collectionProducts.collectionId, collectionId))
      .orderBy(asc(collectionProducts.position))
      .limit(limit)
    return rows.map(({ id }) => id)
  },
  /** Those of these handles that collections of the shop have. */
  async takenHandles(tx: Writer, shopId: string, handles: readonly string[]): Promise<Set<string>> {
    const rows = await tx
      .select({ handle: collections.handle })
      .from(collections)
      .where(and(eq(collections.shopId, shopId), inArray(collections.handle, [...handles])))
    return new Set(rows.map(({ handle }) => handle))
  },
  async insert(tx: Writer, collection: Collection): Promise<void> {
    await tx.insert(collections).values(collection)
  },
  /** Undefined when the collection is not of the version any more that it had before. */
  async update(tx: Writer, before: Collection, change: Partial<Collection>): Promise<Collection | undefined> {
    const [collection] = await changeCollection(tx, change, { which: before.id, was: before.version })
    return collection
  },
  /** Undefined when the collection is not of this version any more. */
  async remove(tx: Writer, { id, version }: Collection): Promise<{ id: string } | undefined> {
    const [row] = await tx
      .delete(collections)
      .where(and(eq(collections.id, id), eq(collections.version, version)))
      .returning({ id: collections.id })
    return row
  },
  /** How many of these are products of the shop. */
  /** Those of these that are products of the shop. */
  async knownProducts(tx: Writer, shopId: string, ids: readonly string[]): Promise<Set<string>> {
    const known = new Set<string>()
    for (let at = 0; at < ids.length; at += idsPerQuery) {
      const rows = await tx
        .select({ id: products.id })
        .from(products)
        .where(and(eq(products.shopId, shopId), inArray(products.id, ids.slice(at, at + idsPerQuery))))
      for (const { id } of rows) known.add(id)
    }
    return known
  },
  /** Those of these that are collections of the shop; no more of them than one statement takes. */
  async knownCollections(tx: Writer, shopId: string, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set()
    const rows = await tx
      .select({ id: collections.id })
      .from(collections)
      .where(and(eq(collections.shopId, shopId), inArray(collections.id, [...ids])))
    return new Set(rows.map(({ id }) => id))
  },
  async setProducts(tx: Writer, collectionId: string, ids: readonly string[]): Promise<void> {
    await tx.delete(collectionProducts).where(eq(collectionProducts.collectionId, collectionId))
    const rows = ids.map((productId, at) => ({ collectionId, productId, position: at + 1 }))
    for (let at = 0; at < rows.length; at += idsPerQuery) await tx.insert(collectionProducts).values(rows.slice(at, at + idsPerQuery))
  },
})

/** Engines bound the number of parameters of one statement. */
const idsPerQuery = 500
