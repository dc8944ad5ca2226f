import { and, asc, count, desc, eq, inArray, lte, or, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, rowsOf, updateOfVersion } from '../../../../db/prepared.ts'
import { indexedBy } from '../../../../db/product-filter.ts'
import { collectionProducts, collections, products } from '../../../../db/schema/catalog.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { storedHandleForms } from '../../../lib/search-terms.ts'
import { productsPerCollectionMax } from '../products/domain.ts'

export type Collection = typeof collections.$inferSelect

const byId = rowsOf(collections, ['id', 'shopId'])

export const createCollectionStore = ({ read }: Pick<Database, 'read'>) => ({
  async find(shopId: string, id: string, from: Pick<Reader, 'first'> = read): Promise<Collection | undefined> {
    return from.first(byId, { id, shopId })
  },
  /** Finds a published collection by id or handle. */
  async findPublished(shopId: string, idOrHandle: string, now: number): Promise<Collection | undefined> {
    const forms = storedHandleForms(idOrHandle)
    const found = await read
      .select()
      .from(collections)
      .where(
        and(
          eq(collections.shopId, shopId),
          or(eq(collections.id, idOrHandle), inArray(collections.handle, forms)),
          lte(collections.publishedAt, now),
        ),
      )
      .limit(forms.length)
    return found.find(({ handle }) => handle === forms[0]) ?? found[0]
  },
  /** @param productId only collections of this product */
  list(shopId: string, slice: PageSlice, productId?: string): Promise<{ rows: Collection[]; total: number }> {
    const ofProduct =
      productId === undefined
        ? undefined
        : inArray(
            collections.id,
            read
              .select({ id: collectionProducts.collectionId })
              .from(collectionProducts)
              .where(eq(collectionProducts.productId, productId)),
          )
    return selectSlice(read, collections, {
      where: and(eq(collections.shopId, shopId), ofProduct),
      order: [desc(collections.id)],
      ...slice,
    })
  },
  listPublished(shopId: string, now: number, slice: PageSlice): Promise<{ rows: Collection[]; total: number }> {
    const where = and(eq(collections.shopId, shopId), lte(collections.publishedAt, now))
    return selectSlice(read, collections, { where, order: [desc(collections.publishedAt), desc(collections.id)], ...slice })
  },
  /** Counts the visible products of each collection. */
  async countVisible(ids: readonly string[], now: number): Promise<Map<string, number>> {
    if (ids.length === 0) return new Map()
    const rows = await read
      .select({ id: collectionProducts.collectionId, n: count() })
      .from(collectionProducts)
      .where(and(inArray(collectionProducts.collectionId, [...ids]), lte(collectionProducts.visibleFrom, now)))
      .groupBy(collectionProducts.collectionId)
    return new Map(rows.map(({ id, n }) => [id, Number(n)]))
  },
  /** Returns a page of the visible product ids of each collection, in the collection's order. */
  async visibleProducts(
    ids: readonly string[],
    now: number,
    { limit, offset }: Pick<PageSlice, 'limit' | 'offset'>,
  ): Promise<Map<string, string[]>> {
    if (ids.length === 0) return new Map()
    const pages = ids.map(
      (id) => sql`select * from (select collection_id, product_id, position from collection_products
        where collection_id = ${id} and visible_from <= ${now} order by position limit ${limit} offset ${offset}) p`,
    )
    const rows = await read.rows<{ collection_id: string; product_id: string }>(
      sql`${sql.join(pages, sql` union all `)} order by collection_id, position`,
    )
    return new Map(
      [...Map.groupBy(rows, (row) => row.collection_id)].map(([id, members]) => [id, members.map(({ product_id }) => product_id)]),
    )
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
  /** Returns those of `handles` that collections of the shop have. */
  async takenHandles(tx: Writer, shopId: string, handles: readonly string[]): Promise<Set<string>> {
    const rows = await tx
      .select({ handle: collections.handle })
      .from(collections)
      .where(and(eq(collections.shopId, shopId), inArray(collections.handle, [...handles])))
    return new Set(rows.map(({ handle }) => handle))
  },
  insert: insertOf(collections),
  update: updateOfVersion(collections),
  /** Returns undefined if the collection has another version. */
  async remove(tx: Writer, { id, version }: Collection): Promise<{ id: string } | undefined> {
    const [row] = await tx
      .delete(collections)
      .where(and(eq(collections.id, id), eq(collections.version, version)))
      .returning({ id: collections.id })
    return row
  },
  /** Returns those of `ids` that are products of the shop. */
  async existingProducts(tx: Writer, shopId: string, ids: readonly string[]): Promise<Set<string>> {
    const existing = new Set<string>()
    for (let at = 0; at < ids.length; at += idsPerQuery) {
      const rows = await tx
        .select({ id: products.id })
        .from(products)
        .where(and(eq(products.shopId, shopId), inArray(products.id, ids.slice(at, at + idsPerQuery))))
      for (const { id } of rows) existing.add(id)
    }
    return existing
  },
  /** Returns those of `ids` that are collections of the shop. `ids` must fit into one statement. */
  async existingCollections(tx: Writer, shopId: string, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set()
    const rows = await tx
      .select({ id: collections.id })
      .from(collections)
      .where(and(eq(collections.shopId, shopId), inArray(collections.id, [...ids])))
    return new Set(rows.map(({ id }) => id))
  },
  /**
   * Adds a new product to the collections of another, at the end. Full collections are left out. The product has no
   * public document yet.
   */
  async copyMemberships(tx: Writer, { from, to, now }: { from: string; to: string; now: number }): Promise<void> {
    await tx.rows(sql`
      insert into collection_products (collection_id, position, product_id)
      select m.collection_id, (select max(o.position) + 1 from collection_products o where o.collection_id = m.collection_id), ${to}
      from collection_products m where m.product_id = ${from}
        and (select count(*) from collection_products o where o.collection_id = m.collection_id) < ${productsPerCollectionMax}`)
    await this.raiseVersionsOf(tx, to, now)
  },
  /** Raises the versions of a product's collections, so that an older edit cannot overwrite the list of products. */
  async raiseVersionsOf(tx: Writer, productId: string, now: number): Promise<void> {
    await tx
      .update(collections)
      .set({ version: sql`${collections.version} + 1`, updatedAt: now })
      .where(
        inArray(
          collections.id,
          tx.select({ id: collectionProducts.collectionId }).from(collectionProducts).where(eq(collectionProducts.productId, productId)),
        ),
      )
  },
  async setProducts(tx: Writer, collectionId: string, ids: readonly string[]): Promise<void> {
    // Locks the products, because a publication at the same time does not see the new rows and would not update them.
    if (engine === 'postgres') {
      const sorted = [...ids].sort()
      for (let at = 0; at < sorted.length; at += idsPerQuery)
        await tx.rows(sql`select id from products where id in ${sorted.slice(at, at + idsPerQuery)} order by id for share`)
    }
    await tx.delete(collectionProducts).where(eq(collectionProducts.collectionId, collectionId))
    const members =
      engine === 'sqlite'
        ? sql`(select key + 1 as position, value as id from json_each(${JSON.stringify(ids)})) m`
        : sql`json_array_elements_text(${JSON.stringify(ids)}::json) with ordinality as m(id, position)`
    await tx.rows(sql`insert into collection_products
        (collection_id, position, product_id, visible_from, vendor, type, available, min_price, max_price, tag_bits, title_key)
      select ${collectionId}, m.position, m.id, d.visible_from, coalesce(d.vendor, ''), coalesce(d.type, ''), coalesce(d.available, true),
        coalesce(d.min_price, 0), coalesce(d.max_price, 0), coalesce(d.tag_bits, -1), coalesce(d.title_key, '')
      from ${members} left join product_documents d ${indexedBy('product_documents_facts')} on d.product_id = m.id`)
  },
})

/** Engines limit the number of parameters of a statement. */
const idsPerQuery = 500
