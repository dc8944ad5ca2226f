import { and, asc, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../db/engine.ts'
import { products, variants } from '../../../db/schema/catalog.ts'
import { managedSearch } from '../../../db/search.ts'
import { fillsOf } from '../../../db/search-fills.ts'
import { wordFor } from '../../../db/shop-words.ts'
import type { Slice } from '../../lib/page.ts'
import type { Whole } from './domain.ts'
import { isFoundBy, type ManagedFilter, managedWording } from './listing.ts'

/** With a filter, totals are exact up to this, and nothing lies past it. */
export const foundMax = 1_000
/** Without one they are counted up to this; further pages are there all the same. */
export const countedMax = 10_000

/** Of a piece of a filtered list: each is read with all of its variants, and its words are made anew, at a stretch. */
const lookedAtMax = 50

type Found = { readonly wholes: Whole[]; readonly total: number; readonly isCapped: boolean }

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
    const found = await managedSearch.find(read, { shopId, words: words ?? [], whole, limit: foundMax + 1 })
    const ids = found.slice(0, foundMax)
    return {
      wholes: await wholesOf(read, ids.slice(slice.offset, slice.offset + slice.limit)),
      total: ids.length,
      isCapped: found.length > foundMax,
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

  ...fillsOf('PRODUCTS'),
  /** The newest ids below one. */
  async idsBelow(read: Pick<Reader, 'select'>, below: string, limit: number): Promise<string[]> {
    const rows = await read.select({ id: products.id }).from(products).where(lt(products.id, below)).orderBy(desc(products.id)).limit(limit)
    return rows.map(({ id }) => id)
  },
}

async function unfiltered(read: Reader, shopId: string, { limit, offset }: Slice): Promise<Found> {
  const [counted] = await read.rows<{ n: number | string }>(
    sql`select count(*) as n from (select 1 from products where shop_id = ${shopId} limit ${countedMax + 1}) as first_ones`,
  )
  const n = Number(counted?.n ?? 0)
  const rows = await read
    .select({ id: products.id })
    .from(products)
    .where(eq(products.shopId, shopId))
    .orderBy(desc(products.id))
    .limit(limit)
    .offset(offset)
  const wholes = await wholesOf(
    read,
    rows.map(({ id }) => id),
  )
  return { wholes, total: Math.min(n, countedMax), isCapped: n > countedMax }
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
