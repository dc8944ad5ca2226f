/**
 * Filtered lists of products. Every statement reads a range of one index that contains all filter columns, so that an
 * entry is tested without a look-up.
 */
import { type SQL, sql } from 'drizzle-orm'
import { engine } from './columns.ts'
import type { Reader } from './engine.ts'
import {
  allOf,
  columnConditions,
  hasAvailability,
  indexedBy,
  lookupConditions,
  orderedJoin,
  type ProductFilter,
  productIdIn,
  productIdOf,
  spreadMax,
} from './product-filter.ts'

/** `collection`: the order of the collection that the filter names. */
export type ProductSort = { readonly order: Order; readonly descending: boolean } | 'collection'
type Order = 'newest' | 'title' | 'price'
type Rows = Pick<Reader, 'rows'>

/** Limit of candidates that are sorted. A collection has no more products. */
const sortedMax = 5_000
/** Limit of counts that compare indexes. */
const countMax = 20_000
/** Costs relative to an entry that is read in order: of sorting it, and of a look-up. */
const [sortedCost, lookupCost] = [8, 8]
/** Limit of the cost of sorting. */
const sortedCostMax = sortedMax * sortedCost
/** A price range is wide if its end is this many times its start. */
const wideRange = 2
/** Limit of products of a pair that are sorted. Of more, the first are found sooner in a list of 50,000 in order. */
const pairMax = 1_750

/**
 * Index entries that include every product that matches.
 * @property satisfied filter conditions that every entry meets
 * @property rows selects the entries `c` with the filter columns; at most `most`, if given
 * @property needsLookup whether each entry is read by a look-up
 * @property counted selects as many rows as there are entries, or more; default: `rows`
 * @property most the largest number of its entries that are sorted
 * @property idSuffix SQL for the suffix of the product id of an entry
 * @property hasTitleKey whether the entries contain the title key
 */
type Source = {
  readonly satisfied: readonly (keyof ProductFilter)[]
  readonly rows: (most?: number) => SQL
  readonly idSuffix: SQL
  readonly hasTitleKey?: boolean
  readonly needsLookup?: boolean
  readonly counted?: (most: number) => SQL
  readonly most?: number
}

/** Digits of the price in a price key. */
const priceDigits = 15
const priceKeyFrom = (amount: number) => String(amount).padStart(priceDigits, '0')
/** The first price key above an amount; undefined above the highest price. */
const priceKeyAbove = (amount: number) => {
  const key = priceKeyFrom(amount + 1)
  return key.length > priceDigits ? undefined : key
}
/** Upper limit of the newest keys of products visible at `now`; see `newestKeyAt` of the catalog. */
const newestKeyAbove = (now: number) =>
  Math.max(0, now + 1)
    .toString(36)
    .padStart(9, '0')

const idSuffixOf = {
  newest: sql.raw('substr(c.newest_key, 11)'),
  price: sql.raw('substr(c.price_key, 17)'),
  title: sql.raw('substr(c.title_key, length(c.title_key) - 25)'),
  id: sql.raw('substr(c.product_id, 6)'),
}
const tagColumns = 'visible_from, vendor, type, available, min_price, max_price'
const filterColumns = `${tagColumns}, tag_bits`

/** Conditions that have indexes of their own. `available` has one for the order `newest` only. */
type Facet = 'vendor' | 'type' | 'tag' | 'available'
const facetsOf = (filter: ProductFilter, order: Order): Facet[] =>
  (['tag', 'vendor', 'type', 'available'] as const).filter(
    (one) => filter[one] !== undefined && (order === 'newest' || one !== 'available'),
  )

/** The range of a sort key that can match. By price: of products whose lowest price is within the filter's range. */
function rangeOf({ now, minPrice, maxPrice }: ProductFilter, order: Order): SQL {
  if (order === 'newest') return sql`and newest_key < ${newestKeyAbove(now)}`
  if (order === 'title') return sql.empty()
  const below = maxPrice === undefined ? undefined : priceKeyAbove(maxPrice)
  return sql`${minPrice ? sql`and price_key >= ${priceKeyFrom(minPrice)}` : sql.empty()} ${below === undefined ? sql.empty() : sql`and price_key < ${below}`}`
}
const satisfiedBy = { newest: ['now'], title: [], price: ['minPrice', 'maxPrice'] } as const

const limitTo = (most: number | undefined): SQL => (most === undefined ? sql.empty() : sql`limit ${most}`)

/** Selects the shop's documents, or those with the filter's value of a facet, in an order. */
function sortedSource(filter: ProductFilter, order: Order, descending: boolean, facet?: Facet): Source {
  const { shopId, tag, vendor, type, available } = filter
  const facets = {
    vendor: sql`and vendor = ${vendor}`,
    type: sql`and type = ${type}`,
    tag: sql`and tag = ${tag}`,
    available: sql`and ${hasAvailability(available === true)}`,
  }
  const [table, columns] = facet === 'tag' ? ['product_tags', tagColumns] : ['product_documents', filterColumns]
  const keyOrder = facet && facet !== 'tag' && order === 'newest' ? undefined : order
  const index = [table, facet === 'tag' ? undefined : facet, keyOrder].filter((part) => part !== undefined).join('_')
  const hasTitleKey = facet === 'available' || (facet === undefined && order === 'price')
  return {
    satisfied: [...satisfiedBy[order].filter((name) => filter[name] !== undefined), ...(facet ? [facet] : [])],
    rows: (most) => sql`select ${sql.raw(`${order}_key, ${columns}${hasTitleKey ? ', title_key' : ''} from ${table}`)} ${indexedBy(index)}
      where shop_id = ${shopId} ${facet ? facets[facet] : sql.empty()} ${rangeOf(filter, order)}
      order by ${sql.raw(`${order}_key ${descending ? 'desc' : 'asc'}`)} ${limitTo(most)}`,
    idSuffix: idSuffixOf[order],
    hasTitleKey,
  }
}

const collectionSource = ({ collectionId, now }: ProductFilter): Source => ({
  satisfied: ['now', 'collectionId'],
  rows: (most) => sql`select product_id, position, ${sql.raw(filterColumns)}, title_key from collection_products
    ${indexedBy('collection_products_order')} where collection_id = ${collectionId} and visible_from <= ${now} order by position ${limitTo(most)}`,
  idSuffix: idSuffixOf.id,
  hasTitleKey: true,
})

/**
 * Selects documents whose lowest price is below `minPrice` and whose highest is within the range. For each `spread`
 * only a range of the index can contain them: their highest price is less than 10^spread above `minPrice`.
 */
function enclosingSource({ shopId, minPrice = 0, maxPrice }: ProductFilter): Source {
  const above = maxPrice === undefined ? Number.POSITIVE_INFINITY : maxPrice + 1
  const spreads = sql.join(
    Array.from({ length: spreadMax }, (_, at) =>
      sql.raw(`select ${at + 1} as digits, ${Math.min(minPrice + 10 ** (at + 1), above)} as below`),
    ),
    sql` union all `,
  )
  return {
    satisfied: maxPrice === undefined ? ['minPrice'] : ['minPrice', 'maxPrice'],
    rows: (most) => {
      const columns = sql.raw(`newest_key, title_key, ${filterColumns}`)
      const of = sql`product_documents ${indexedBy('product_documents_spread')}`
      const encloses = sql`shop_id = ${shopId} and spread = s.digits and spread > 0 and max_price >= ${minPrice} and max_price < s.below
        and min_price < ${minPrice}`
      // A bounded subquery for each spread: PostgreSQL would read the whole table for all of them at once.
      return engine === 'sqlite'
        ? sql`select ${columns} from (${spreads}) s cross join ${of} on ${encloses} ${limitTo(most)}`
        : sql`select d.* from (${spreads}) s cross join lateral (select ${columns} from ${of}
            where ${encloses} order by max_price ${limitTo(most)}) d ${limitTo(most)}`
    },
    idSuffix: idSuffixOf.newest,
    hasTitleKey: true,
  }
}

/** Selects documents with a price within the range whose lowest price is below it and whose highest is above it. */
function innerSource({ shopId, minPrice, maxPrice }: ProductFilter): Source {
  const prices = sql`product_inner_prices ${indexedBy('product_inner_prices_price')} where shop_id = ${shopId} and price between ${minPrice} and ${maxPrice}`
  return {
    satisfied: ['minPrice', 'maxPrice'],
    rows: (most) => sql`select d.product_id, title_key, ${sql.raw(filterColumns)}
      from (select distinct product_id from ${prices}) i ${orderedJoin} product_documents d ${indexedBy('product_documents_facts')}
      on d.product_id = i.product_id where min_price < ${minPrice} and max_price > ${maxPrice} ${limitTo(most)}`,
    counted: (most) => sql`select 1 from ${prices} order by price limit ${most}`,
    idSuffix: idSuffixOf.id,
    hasTitleKey: true,
    needsLookup: true,
  }
}

/**
 * Selects the products with two values of the filter, of which one may be the availability, by an index of the pair.
 * Such an index has no other columns, so each product is looked up.
 */
function pairSource({ shopId, tag, vendor, type, available }: ProductFilter, first: 'tag' | 'vendor' | 'type', second: Facet): Source {
  const conditions = { tag: sql`tag = ${tag}`, vendor: sql`vendor = ${vendor}`, type: sql`type = ${type}` }
  // Both values, so that the columns after it limit the range too.
  const stock =
    available === undefined ? sql.raw(`available in ${engine === 'sqlite' ? '(0, 1)' : '(false, true)'}`) : hasAvailability(available)
  const [table, index] =
    first === 'tag'
      ? ['product_tags', second === 'type' ? 'product_tags_type' : 'product_tags_vendor']
      : ['product_documents', `product_documents_${first}_stock`]
  const from = sql`${sql.raw(table)} ${indexedBy(index)} where shop_id = ${shopId} and ${conditions[first]} and ${stock}
    ${second === 'available' ? sql.empty() : sql`and ${conditions[second]}`}`
  const columns = sql.raw(`title_key, ${first === 'tag' ? tagColumns : filterColumns}`)
  return {
    satisfied: available === undefined ? [first, second] : [first, second, 'available'],
    rows: (most) =>
      first === 'tag'
        ? sql`select product_id, ${columns} from ${from} ${limitTo(most)}`
        : sql`select d.product_id, ${columns} from (select product_id from ${from} ${limitTo(most)}) i
            ${orderedJoin} product_documents d ${indexedBy('product_documents_facts')} on d.product_id = i.product_id`,
    counted: (most) => sql`select 1 from ${from} limit ${most}`,
    idSuffix: idSuffixOf.id,
    hasTitleKey: true,
    needsLookup: true,
    most: pairMax,
  }
}

/** Returns the pairs of values that the filter has; those with the availability if it has one other value. */
function pairSources(filter: ProductFilter): Source[] {
  const facets = (['tag', 'vendor', 'type'] as const).filter((one) => filter[one] !== undefined)
  const [only, ...others] = facets
  if (only && others.length === 0) return filter.available === undefined ? [] : [pairSource(filter, only, 'available')]
  return facets.flatMap((first, at) => facets.slice(at + 1).map((second) => pairSource(filter, first, second)))
}

/**
 * Returns the sources of all products within the price range whose lowest price is below it. Few products have prices
 * on both sides of a wide range, so their inner prices are read by product, and not those of all products in the range.
 */
function sourcesBelow(filter: ProductFilter): Source[] {
  const { minPrice, maxPrice } = filter
  if (!minPrice) return []
  if (maxPrice !== undefined && maxPrice >= wideRange * minPrice) return [enclosingSource({ ...filter, maxPrice: undefined })]
  return [enclosingSource(filter), ...(maxPrice === undefined ? [] : [innerSource(filter)])]
}

/** Returns sources that include all matches and are not in the order of the list. */
function unsortedSources(filter: ProductFilter, order: Order, below: readonly Source[]): Source[][] {
  const isPriced = filter.minPrice !== undefined || filter.maxPrice !== undefined
  const priced = isPriced && order !== 'price' ? [undefined, ...facetsOf(filter, 'price')] : []
  return [
    ...pairSources(filter).map((source) => [source]),
    ...(filter.available !== undefined && order !== 'newest' ? [[sortedSource(filter, 'newest', true, 'available')]] : []),
    ...priced.map((facet) => [sortedSource(filter, 'price', false, facet), ...below]),
  ]
}

/** Counts the entries of sources. Infinity: more than `most`. */
async function countEntries(read: Rows, sources: readonly Source[], most: number): Promise<Map<Source, number>> {
  const distinct = [...new Set(sources)]
  if (distinct.length === 0) return new Map()
  const mostOf = (source: Source) => Math.min(most, source.most ?? most)
  const counts = distinct.map((source, at) => {
    const { rows, counted = rows } = source
    return sql`select ${sql.raw(String(at))} as at, count(*) as n from (${counted(mostOf(source) + 1)}) n`
  })
  const rows = await read.rows<{ at: number; n: number | string }>(sql.join(counts, sql` union all `))
  const found = new Map(rows.map(({ at, n }) => [distinct[Number(at)], Number(n)]))
  return new Map(
    distinct.map((source) => {
      const n = found.get(source) ?? 0
      return [source, n > mostOf(source) ? Number.POSITIVE_INFINITY : n]
    }),
  )
}

/**
 * Sizes of lists by shop, facet and value. They only decide which index is read, so they may be a minute old. Counting
 * two lists of 15,000 products takes 1.5 ms of the 4 ms of a page.
 */
const listSizes = new Map<string, { readonly n: number; readonly countedAt: number }>()
const [listSizesMax, listSizeAgeMs] = [10_000, 60_000]

/** Returns the size of each facet's list, up to `countMax`. */
async function listSizesOf(read: Rows, filter: ProductFilter, facets: readonly Facet[]): Promise<number[]> {
  const keyOf = (facet: Facet) => JSON.stringify([filter.shopId, facet, filter[facet]])
  const isFresh = (facet: Facet) => Math.abs(filter.now - (listSizes.get(keyOf(facet))?.countedAt ?? 0)) < listSizeAgeMs
  const missing = facets.filter((facet) => !isFresh(facet))
  const sources = missing.map((facet) => sortedSource(filter, 'newest', true, facet))
  const counts = [...(await countEntries(read, sources, countMax)).values()]
  if (listSizes.size > listSizesMax) listSizes.clear()
  missing.forEach((facet, at) => {
    listSizes.set(keyOf(facet), { n: counts[at] ?? 0, countedAt: filter.now })
  })
  return facets.map((facet) => listSizes.get(keyOf(facet))?.n ?? 0)
}

/** Returns the candidate with the lowest cost; the first of several. */
const cheapest = <T extends { readonly cost: number }>(candidates: readonly T[]): T | undefined =>
  candidates.toSorted((a, b) => a.cost - b.cost)[0]

const titleKey = (idSuffix: SQL) =>
  sql`(select title_key from product_documents f ${indexedBy('product_documents_facts')} where f.product_id = ${productIdIn(idSuffix)})`

/** Reads at most `most` entries of each source and sorts the matches. */
async function sortMatches(
  read: Rows,
  filter: ProductFilter,
  sources: readonly Source[],
  { order, descending }: Exclude<ProductSort, 'collection'>,
  { most, limit, areInnerPricesFew }: { most: number; limit: number; areInnerPricesFew?: boolean },
): Promise<string[]> {
  const candidates = sources.map(({ satisfied, rows, idSuffix, hasTitleKey }) => {
    const title = order !== 'title' ? sql.empty() : sql`, ${hasTitleKey ? sql.raw('c.title_key') : titleKey(idSuffix)} as title_key`
    return sql`select ${idSuffix} as id_suffix, visible_from, min_price, max_price ${title}
      from (${rows(most)}) c where ${allOf(columnConditions(filter, satisfied))}`
  })
  const direction = descending ? 'desc' : 'asc'
  const keys = {
    newest: `visible_from ${direction}, id_suffix ${direction}`,
    price: `min_price ${direction}, id_suffix ${direction}`,
    title: `title_key ${direction}`,
  }
  const satisfiedByAll = (sources[0]?.satisfied ?? []).filter((name) => sources.every(({ satisfied }) => satisfied.includes(name)))
  const lookups = lookupConditions(filter, productIdIn(sql.raw('id_suffix')), satisfiedByAll, areInnerPricesFew)
  // Look-ups follow the sort and end with the last match. The inner limit keeps both engines from merging the queries.
  const sorted = sql`select * from (${sql.join(candidates, sql` union all `)}) found order by ${sql.raw(keys[order])}
    limit ${lookups.length > 0 ? most * sources.length : limit}`
  const rows = await read.rows<{ id_suffix: string }>(sql`select id_suffix from (${sorted}) s where ${allOf(lookups)} limit ${limit}`)
  return rows.map(({ id_suffix }) => productIdOf(id_suffix))
}

/** Returns the first matches in the order of an index. */
async function walkIndex(
  read: Rows,
  filter: ProductFilter,
  { satisfied, rows, idSuffix }: Source,
  { limit, areInnerPricesFew }: { limit: number; areInnerPricesFew?: boolean },
): Promise<string[]> {
  const lookups = lookupConditions(filter, productIdIn(idSuffix), satisfied, areInnerPricesFew)
  const found = await read.rows<{ id_suffix: string }>(
    sql`select ${idSuffix} as id_suffix from (${rows()}) c where ${allOf([...columnConditions(filter, satisfied), ...lookups])} limit ${limit}`,
  )
  return found.map(({ id_suffix }) => productIdOf(id_suffix))
}

/**
 * Returns the first products that meet a filter, in the order of a list. Sorts the candidates of one condition if they
 * are few; otherwise reads the shortest index that has this order.
 * @param limit maximum number of ids; if as many are returned, more may match
 */
export async function filteredProducts(read: Rows, filter: ProductFilter, sort: ProductSort, limit: number): Promise<string[]> {
  const below = sourcesBelow(filter)
  const inner = below.filter(({ needsLookup }) => needsLookup)
  const ofCollection = filter.collectionId === undefined ? undefined : collectionSource(filter)
  const unsorted = ofCollection || sort === 'collection' ? [] : unsortedSources(filter, sort.order, below)
  const counts = await countEntries(read, ofCollection ? inner : [...unsorted.flat(), ...below], sortedMax)
  const countOf = (sources: readonly Source[]) => sources.reduce((sum, source) => sum + (counts.get(source) ?? 0), 0)
  const areInnerPricesFew = inner.length > 0 && countOf(inner) <= sortedMax
  if (sort === 'collection') return walkIndex(read, filter, collectionSource(filter), { limit, areInnerPricesFew })
  const sorted = (sources: readonly Source[], most = limit) =>
    sortMatches(read, filter, sources, sort, { most: sortedMax, limit: most, areInnerPricesFew })
  if (ofCollection) return sorted([ofCollection])
  const { order, descending } = sort
  const facets = facetsOf(filter, order)
  const sizes = facets.length > 1 || unsorted.length > 0 ? await listSizesOf(read, filter, facets) : []
  const shortest = cheapest(facets.map((facet, at) => ({ facet, cost: sizes[at] ?? 0 })))
  const costOf = (source: Source) => {
    const lookups = [order === 'title' && !source.hasTitleKey, source.needsLookup === true]
    return countOf([source]) * (sortedCost + lookupCost * lookups.filter(Boolean).length)
  }
  const few = cheapest(unsorted.map((sources) => ({ sources, cost: sources.reduce((sum, source) => sum + costOf(source), 0) })))
  if (few && few.cost <= Math.min(shortest?.cost ?? sortedCostMax, sortedCostMax)) return sorted(few.sources)
  const walk = (most: number, range = filter) =>
    walkIndex(read, filter, sortedSource(range, order, descending, shortest?.facet), { limit: most, areInnerPricesFew })
  const enclosed = order === 'price' ? countOf(below) : 0
  if (enclosed === 0) return walk(limit)
  // Of many products that enclose `minPrice`, the first by price are found in the order of prices.
  if (enclosed > sortedMax) return walk(limit, { ...filter, minPrice: undefined })
  const around = (most: number) => sorted(below, most)
  const [first, second] = descending ? [walk, around] : [around, walk]
  const ids = await first(limit)
  return ids.length < limit ? [...ids, ...(await second(limit - ids.length))] : ids
}

/**
 * Returns all products that meet a filter if one of its conditions has at most `most` candidates; otherwise undefined.
 */
export async function fewProducts(read: Rows, filter: ProductFilter, most: number): Promise<string[] | undefined> {
  const sets = [
    ...facetsOf(filter, 'newest').map((facet) => [sortedSource(filter, 'newest', true, facet)]),
    ...(filter.collectionId === undefined ? [] : [[collectionSource(filter)]]),
    ...unsortedSources(filter, 'newest', sourcesBelow(filter)),
  ]
  const counts = await countEntries(read, sets.flat(), most)
  const few = cheapest(sets.map((sources) => ({ sources, cost: sources.reduce((sum, source) => sum + (counts.get(source) ?? 0), 0) })))
  if (!few || few.cost > most) return undefined
  return sortMatches(read, filter, few.sources, { order: 'newest', descending: true }, { most, limit: 2 * most })
}
