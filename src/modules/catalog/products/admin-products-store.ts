import { and, asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import { exactWordOf } from '../../../../db/admin-search.ts'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { extendBlocks, readListPage, totalOnly } from '../../../../db/list-pages.ts'
import { products, variants } from '../../../../db/schema/catalog.ts'
import { managedSearch, productIndexed } from '../../../../db/search.ts'
import { backfillProgressOf, searchBackfillOf } from '../../../../db/search-backfill.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { type ProductWithVariants, type Sort, sorts } from './domain.ts'
import { type AdminProductFilter, adminSearchTerms, matchesFilter } from './listing.ts'

/** With a filter, totals are exact up to this number, and pages end there. */
export const filteredTotalMax = 1_000

/** Products per chunk of a filtered list: each is read with all variants, and its search terms are computed. */
const filteredChunkMax = 50
/** Products that are not indexed yet: only the newest of them are filtered by their columns. */
const unindexedMax = 10_000

/** `isLong`: the list should be folded, so that late pages cost no more than the first. */
type ProductPage = {
  readonly records: ProductWithVariants[]
  readonly total: number
  readonly isCapped: boolean
  readonly isLong?: boolean
}

const fills = searchBackfillOf('PRODUCTS', 'products p', productIndexed)
/** Progress of the job that renders missing summaries. */
export const summaryFills = backfillProgressOf('SUMMARIES')

/** Products as the shop's staff list and search them. */
export const adminProductStore = {
  /** Indexes a product for the staff's search. */
  async put(tx: Writer, record: ProductWithVariants): Promise<void> {
    const { words, plain, values } = adminSearchTerms(record)
    const ofFilters = values.map(([kind, value]) => exactWordOf(kind, value))
    await managedSearch.put(tx, record.product, { words, whole: [...plain, ...ofFilters] })
  },

  /** Removes a product from the staff's search. */
  remove: (tx: Writer, id: string): Promise<void> => managedSearch.remove(tx, id),

  /** Returns a page of a shop's products. */
  async list(read: Reader, filter: AdminProductFilter, slice: PageSlice, sort: Sort): Promise<ProductPage> {
    const { shopId, words, values } = filter
    if (words?.length === 0) return { records: [], total: 0, isCapped: false }
    if (words === undefined && values.length === 0) return listUnfiltered(read, shopId, slice, sort)
    const exactValues = values.map(([kind, value]) => exactWordOf(kind, value))
    // Reads the progress before the index: a product that the job indexes in between is then found twice, not missed.
    const fill = await fills.readProgress(read)
    const indexed = await managedSearch.find(read, { shopId, words: words ?? [], whole: exactValues, limit: filteredTotalMax + 1 })
    const unindexed = fill ? await findUnindexed(read, filter, fill.below) : { ids: [], isWhole: true }
    // Removes duplicates. Ids are ASCII, and their order is that of creation.
    const found = fill ? [...new Set([...indexed, ...unindexed.ids])].sort().reverse() : indexed
    const ids = found.slice(0, filteredTotalMax)
    return {
      records: await loadProducts(read, await pageOfFound(read, filter, ids, slice, sort)),
      total: ids.length,
      isCapped: found.length > filteredTotalMax || !unindexed.isWhole,
    }
  },

  /**
   * Reads the next products of an export, oldest first. Every product is examined, so no limit hides any.
   * @returns `scannedTo`: the last id that was examined; undefined at the end
   */
  async readChunk(
    read: Reader,
    filter: AdminProductFilter,
    { limit, after }: PageSlice,
  ): Promise<{ records: ProductWithVariants[]; scannedTo: string | undefined }> {
    const { shopId, words, values } = filter
    if (words?.length === 0) return { records: [], scannedTo: undefined }
    const isFiltered = words !== undefined || values.length > 0
    const rows = await read
      .select({ id: products.id })
      .from(products)
      .where(and(eq(products.shopId, shopId), typeof after === 'string' ? gt(products.id, after) : undefined))
      .orderBy(asc(products.id))
      .limit(isFiltered ? Math.min(limit, filteredChunkMax) : limit)
    const ids = rows.map(({ id }) => id)
    const records = await loadProducts(read, ids)
    return { records: isFiltered ? records.filter((record) => matchesFilter(record, filter)) : records, scannedTo: ids.at(-1) }
  },

  /** Folds the list, so that late pages cost no more than the first. @param before an id, see db/list-pages.ts */
  shorten: (db: Database, shopId: string, before: string): Promise<number> => extendBlocks(db, { list: 'PRODUCTS', shopId }, before),

  ...fills,
}

/**
 * Filters products that are not indexed yet by their columns alone: status, vendor and type.
 * @returns ids, newest first; `isWhole` is false if there may be more
 */
async function findUnindexed(
  read: Reader,
  { shopId, words, values }: AdminProductFilter,
  below: string,
): Promise<{ ids: string[]; isWhole: boolean }> {
  const columns = values.flatMap(([kind, value]) => (kind === 'tag' || kind === 'sku' ? [] : sql`and ${sql.raw(kind)} = ${value}`))
  if (words !== undefined || columns.length < values.length) {
    const [any] = await read.rows<{ id: string }>(sql`select id from products where shop_id = ${shopId} and id < ${below} limit 1`)
    return { ids: [], isWhole: any === undefined }
  }
  const rows = await read.rows<{ id: string }>(
    sql`select id from (select id, status, vendor, type from products where shop_id = ${shopId} and id < ${below} order by id desc limit ${unindexedMax}) as rest
        where true ${sql.join(columns, sql` `)} order by id desc limit ${filteredTotalMax + 1}`,
  )
  const next = await read.rows<{ id: string }>(
    sql`select id from products where shop_id = ${shopId} and id < ${below} order by id desc limit 1 offset ${unindexedMax}`,
  )
  return { ids: rows.map(({ id }) => id), isWhole: next.length === 0 }
}

async function listUnfiltered(read: Reader, shopId: string, slice: PageSlice, sort: Sort): Promise<ProductPage> {
  const isSorted = sort !== 'newest'
  const { ids, total, isLong } = await readListPage(read, { list: 'PRODUCTS', shopId }, isSorted ? totalOnly : slice)
  const page = isSorted ? await sortedIds(read, sql`shop_id = ${shopId}`, slice, sort) : ids
  return { records: await loadProducts(read, page), total, isCapped: false, isLong }
}

/**
 * Sorts the ids that a filter found and returns a page of them. If only `status` is filtered and more products match
 * than were found, the page is read from the index of the sort key.
 * @param ids newest first
 */
async function pageOfFound(
  read: Reader,
  { shopId, words, values: [value, ...otherValues] }: AdminProductFilter,
  ids: readonly string[],
  slice: PageSlice,
  sort: Sort,
): Promise<string[]> {
  const { offset, limit } = slice
  if (sort === 'newest' || offset >= ids.length) return ids.slice(offset, offset + limit)
  const isOfStatus = words === undefined && value?.[0] === 'status' && otherValues.length === 0
  const isMany = ids.length === filteredTotalMax
  return isOfStatus && isMany
    ? sortedIds(read, sql`shop_id = ${shopId} and status = ${value[1]}`, slice, sort)
    : sortedIds(read, inArray(products.id, [...ids]), slice, sort)
}

/** Returns a page of ids, sorted by a key. For a whole shop the index of that key is read. */
async function sortedIds(read: Reader, where: SQL, { limit, offset }: PageSlice, sort: Sort): Promise<string[]> {
  const { order, descending } = sorts[sort]
  const key = sql.raw(`${order}_key ${descending ? 'desc' : 'asc'}`)
  const rows = await read.rows<{ id: string }>(sql`select id from products where ${where} order by ${key} limit ${limit} offset ${offset}`)
  return rows.map(({ id }) => id)
}

/** Returns products in the order of the ids. */
async function loadProducts(read: Reader, ids: readonly string[]): Promise<ProductWithVariants[]> {
  if (ids.length === 0) return []
  const rows = await read
    .select()
    .from(products)
    .where(inArray(products.id, [...ids]))
  const variantRows = await read
    .select()
    .from(variants)
    .where(inArray(variants.productId, [...ids]))
    .orderBy(asc(variants.productId), asc(variants.position))
  const byId = new Map(rows.map((product) => [product.id, product]))
  const byProduct = Map.groupBy(variantRows, ({ productId }) => productId)
  return ids.flatMap((id) => {
    const product = byId.get(id)
    return product ? [{ product, variants: byProduct.get(id) ?? [] }] : []
  })
}
