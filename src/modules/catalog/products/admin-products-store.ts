import { and, asc, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm'
import { wordFor } from '../../../../db/admin-search.ts'
import { engine } from '../../../../db/columns.ts'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { foldBlocks, pageOfBlocks } from '../../../../db/list-pages.ts'
import { products, variants } from '../../../../db/schema/catalog.ts'
import { managedSearch, productIndexed } from '../../../../db/search.ts'
import { fillsOf } from '../../../../db/search-backfill.ts'
import type { Slice } from '../../../lib/page.ts'
import type { Whole } from './domain.ts'
import { isFoundBy, type ManagedFilter, managedWording } from './listing.ts'

/** With a filter, totals are exact up to this, and nothing lies past it. */
export const foundMax = 1_000

/** Of a piece of a filtered list: each is read with all of its variants, and its words are made anew, at a stretch. */
const lookedAtMax = 50
/** Products that no index knows yet, of which the newest so many are looked at for what their columns say. */
const unfilledMax = 10_000

/** `isLong`: it is to be shortened, so that its late pages cost no more than its first. */
type Found = { readonly wholes: Whole[]; readonly total: number; readonly isCapped: boolean; readonly isLong?: boolean }

const fills = fillsOf('PRODUCTS')
/** How far the job has come that makes summaries of products. */
export const summaryFills = fillsOf('SUMMARIES')

/** A shop's products as its own people list them. */
export const managedStore = {
  /** Makes a product findable by its shop's people, or by what it says now. */
  async put(tx: Writer, whole: Whole): Promise<void> {
    const { words, plain, values } = managedWording(whole)
    const ofFilters = values.map(([kind, value]) => wordFor(kind, value))
    await managedSearch.put(tx, whole.product, { words, whole: [...plain, ...ofFilters] })
  },

  /** A page of a shop's products, newest first. */
  async list(read: Reader, filter: ManagedFilter, slice: Slice): Promise<Found> {
    const { shopId, words, values } = filter
    if (words?.length === 0) return { wholes: [], total: 0, isCapped: false }
    if (words === undefined && values.length === 0) return unfiltered(read, shopId, slice)
    const whole = values.map(([kind, value]) => wordFor(kind, value))
    // Before what is indexed: what the job comes to in between is in both, and not in neither.
    const fill = await fills.fillOf(read)
    const indexed = await managedSearch.find(read, { shopId, words: words ?? [], whole, limit: foundMax + 1 })
    const rest = fill ? await unfilled(read, filter, fill.below) : { ids: [], isWhole: true }
    // Those that changed meanwhile are in both. Ids are of ASCII.
    const found = fill ? [...new Set([...indexed, ...rest.ids])].sort().reverse() : indexed
    const ids = found.slice(0, foundMax)
    return {
      wholes: await wholesOf(read, ids.slice(slice.offset, slice.offset + slice.limit)),
      total: ids.length,
      isCapped: found.length > foundMax || !rest.isWhole,
    }
  },

  /**
   * A piece of a list that is read whole, oldest first, as whoever reads it in makes them: every product is looked at, some at a time, and no limit keeps
   * any of them out.
   * @returns `lookedTo`: the last that was looked at; undefined at the end
   */
  async piece(read: Reader, filter: ManagedFilter, { limit, after }: Slice): Promise<{ wholes: Whole[]; lookedTo: string | undefined }> {
    const { shopId, words, values } = filter
    if (words?.length === 0) return { wholes: [], lookedTo: undefined }
    const isFiltered = words !== undefined || values.length > 0
    const rows = await read
      .select({ id: products.id })
      .from(products)
      .where(and(eq(products.shopId, shopId), typeof after === 'string' ? gt(products.id, after) : undefined))
      .orderBy(asc(products.id))
      .limit(isFiltered ? Math.min(limit, lookedAtMax) : limit)
    const ids = rows.map(({ id }) => id)
    const wholes = (await wholesOf(read, ids)).reverse()
    return { wholes: isFiltered ? wholes.filter((whole) => isFoundBy(whole, filter)) : wholes, lookedTo: ids.at(-1) }
  },

  /** Has late pages of all of a shop's products cost no more than the first, from now on. @param before an id, see db/list-pages.ts */
  shorten: (db: Database, shopId: string, before: string): Promise<number> => foldBlocks(db, { list: 'PRODUCTS', shopId }, before),

  ...fills,
  /** Of the ids behind one, the first that no index knows; of SQLite none, where no older version runs beside this one. */
  async unknownAfter(read: Pick<Reader, 'rows'>, after: string, limit: number): Promise<string[]> {
    if (engine === 'sqlite') return []
    const rows = await read.rows<{ id: string }>(
      sql`select p.id as id from products p where p.id > ${after} and not exists (${productIndexed}) order by p.id limit ${limit}`,
    )
    return rows.map(({ id }) => id)
  },
  /** The newest ids below one. */
  async idsBelow(read: Pick<Reader, 'select'>, below: string, limit: number): Promise<string[]> {
    const rows = await read.select({ id: products.id }).from(products).where(lt(products.id, below)).orderBy(desc(products.id)).limit(limit)
    return rows.map(({ id }) => id)
  },
}

/**
 * What the index is still to be given, by columns alone: status, vendor and type.
 * @returns ids, newest first; `isWhole` false where there may be more
 */
async function unfilled(
  read: Reader,
  { shopId, words, values }: ManagedFilter,
  below: string,
): Promise<{ ids: string[]; isWhole: boolean }> {
  const columns = values.flatMap(([kind, value]) => (kind === 'tag' || kind === 'sku' ? [] : sql`and ${sql.raw(kind)} = ${value}`))
  if (words !== undefined || columns.length < values.length) {
    const [any] = await read.rows<{ id: string }>(sql`select id from products where shop_id = ${shopId} and id < ${below} limit 1`)
    return { ids: [], isWhole: any === undefined }
  }
  const rows = await read.rows<{ id: string }>(
    sql`select id from (select id, status, vendor, type from products where shop_id = ${shopId} and id < ${below} order by id desc limit ${unfilledMax}) as rest
        where true ${sql.join(columns, sql` `)} order by id desc limit ${foundMax + 1}`,
  )
  const left = await read.rows<{ id: string }>(
    sql`select id from products where shop_id = ${shopId} and id < ${below} order by id desc limit 1 offset ${unfilledMax}`,
  )
  return { ids: rows.map(({ id }) => id), isWhole: left.length === 0 }
}

async function unfiltered(read: Reader, shopId: string, slice: Slice): Promise<Found> {
  const { ids, total, isLong } = await pageOfBlocks(read, { list: 'PRODUCTS', shopId }, slice)
  return { wholes: await wholesOf(read, ids), total, isCapped: false, isLong }
}

/** Newest first. */
async function wholesOf(read: Reader, ids: readonly string[]): Promise<Whole[]> {
  if (ids.length === 0) return []
  const rows = await read
    .select()
    .from(products)
    .where(inArray(products.id, [...ids]))
    .orderBy(desc(products.id))
  const parts = await read
    .select()
    .from(variants)
    .where(inArray(variants.productId, [...ids]))
    .orderBy(asc(variants.productId), asc(variants.position))
  const byProduct = Map.groupBy(parts, ({ productId }) => productId)
  return rows.map((product) => ({ product, variants: byProduct.get(product.id) ?? [] }))
}
