/** How products are filtered: columns computed for it, and conditions on `product_documents`. */
import { type SQL, sql } from 'drizzle-orm'
import { engine } from './columns.ts'

/** Prices are minor units. A product matches a price range if one of its variants does. */
export type ProductFilter = {
  readonly shopId: string
  /** Products that become visible later do not match. Milliseconds. */
  readonly now: number
  /** In lower case. */
  readonly tag?: string | undefined
  /** The bits of the tag, as `tag_bits` of documents has them. */
  readonly tagBits?: number | undefined
  readonly collectionId?: string | undefined
  readonly vendor?: string | undefined
  readonly type?: string | undefined
  readonly available?: boolean | undefined
  readonly minPrice?: number | undefined
  readonly maxPrice?: number | undefined
}

/** The largest `spread` of a document: the number of digits of the largest price. */
export const spreadMax = 15

/** Fixes the index that SQLite uses. PostgreSQL has no such hint; ranges and orders lead it to the same index. */
export const indexedBy = (name: string): SQL => (engine === 'sqlite' ? sql.raw(`indexed by ${name}`) : sql.empty())
/** A join that SQLite executes from left to right. */
export const orderedJoin = sql.raw(engine === 'sqlite' ? 'cross join' : 'join')

const prefix = 'prod_'
/** Returns the product id that ends in this suffix. The sort keys of the product end in it, too. */
export const productIdOf = (end: string): string => prefix + end
/** Builds the SQL of `productIdOf`. */
export const productIdIn = (end: SQL): SQL => sql`${sql.raw(`'${prefix}'`)} || ${end}`

/**
 * Returns the conditions of a filter on columns of a row of `product_documents` or of an index of it.
 * @param id the product's id in that row
 * @param known conditions that the row meets already
 */
export const conditionsOf = (filter: ProductFilter, id: SQL, known: readonly (keyof ProductFilter)[] = []): SQL =>
  allOf([...columnConditions(filter, known), ...lookupConditions(filter, id, known)])

/** Joins conditions by AND; true if there are none. */
export const allOf = (conditions: readonly SQL[]): SQL => (conditions.length === 0 ? sql`1 = 1` : sql.join([...conditions], sql` and `))

/** Returns the conditions that the filter columns decide, except for those in `known`. */
export function columnConditions(filter: ProductFilter, known: readonly (keyof ProductFilter)[]): SQL[] {
  const { now, tag, tagBits, vendor, type, available, minPrice, maxPrice } = filter
  const isOpen = (name: keyof ProductFilter) => filter[name] !== undefined && !known.includes(name)
  const parts: SQL[] = []
  if (isOpen('now')) parts.push(sql`visible_from <= ${now}`)
  if (isOpen('vendor')) parts.push(sql`vendor = ${vendor}`)
  if (isOpen('type')) parts.push(sql`type = ${type}`)
  if (isOpen('available')) parts.push(hasAvailability(available === true))
  if (isOpen('minPrice')) parts.push(sql`max_price >= ${minPrice}`)
  if (isOpen('maxPrice')) parts.push(sql`min_price <= ${maxPrice}`)
  if (tag !== undefined && isOpen('tag') && tagBits !== undefined) parts.push(sql`(tag_bits & ${tagBits}) = ${tagBits}`)
  return parts
}

/**
 * Returns the conditions that need a look-up in another table for each row.
 * @param id the product's id in the row
 * @param known conditions that the row meets already
 * @param areInnerPricesFew whether to read the inner prices within the range once, not those of each row
 */
export function lookupConditions(
  { shopId, tag, collectionId, minPrice, maxPrice }: ProductFilter,
  id: SQL,
  known: readonly (keyof ProductFilter)[],
  areInnerPricesFew = false,
): SQL[] {
  const parts: SQL[] = []
  if (minPrice !== undefined && maxPrice !== undefined && !(known.includes('minPrice') && known.includes('maxPrice'))) {
    // If the range lies inside [min_price, max_price], only the prices between decide. count(*) and not EXISTS, which
    // SQLite may turn into a join that starts at them.
    const inRange = sql`price between ${minPrice} and ${maxPrice}`
    const hasPrice = areInnerPricesFew
      ? sql`${id} in (select product_id from product_inner_prices ${indexedBy('product_inner_prices_price')} where shop_id = ${shopId} and ${inRange})`
      : sql`(select count(*) from product_inner_prices i where i.product_id = ${id} and i.${inRange}) > 0`
    parts.push(sql`(min_price >= ${minPrice} or max_price <= ${maxPrice} or ${hasPrice})`)
  }
  if (tag !== undefined && !known.includes('tag'))
    parts.push(sql`(select count(*) from product_tags t where t.product_id = ${id} and t.tag = ${tag}) > 0`)
  if (collectionId !== undefined && !known.includes('collectionId'))
    parts.push(sql`(select count(*) from collection_products m where m.collection_id = ${collectionId} and m.product_id = ${id}) > 0`)
  return parts
}

/** Builds the condition that a product is available, or with `false` that it is not. */
export const hasAvailability = (available: boolean): SQL =>
  engine === 'sqlite' ? sql`available = ${available ? 1 : 0}` : sql`available = ${available}`
