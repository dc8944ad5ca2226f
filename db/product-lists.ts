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

/** Products of the largest collection. */
const collectionMax = 5_000
/** Maximum size of a list that is counted exactly. */
const countMax = 20_000
/** Cost of a look-up relative to that of reading an entry. */
const lookupCost = 8
/** A page that ends at product n of the list sorts up to n times as many matches above the largest exact total. */
const sortedPerProduct = 4

/**
 * Index entries that include every product that matches.
 * @property satisfied filter conditions that every entry meets
 * @property rows selects the entries `c` with the filter columns; at most `most`, if given
 * @property needsLookup whether each entry is read by a look-up
 * @property counted selects as many rows as there are entries, or more; default: `rows`
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
  const entries = (selected: string, most: number | undefined) => sql`select ${sql.raw(`${selected} from ${table}`)} ${indexedBy(index)}
    where shop_id = ${shopId} ${facet ? facets[facet] : sql.empty()} ${rangeOf(filter, order)}
    order by ${sql.raw(`${order}_key ${descending ? 'desc' : 'asc'}`)} ${limitTo(most)}`
  return {
    satisfied: [...satisfiedBy[order].filter((name) => filter[name] !== undefined), ...(facet ? [facet] : [])],
    rows: (most) => entries(`${order}_key, ${columns}${hasTitleKey ? ', title_key' : ''}`, most),
    counted: (most) => entries('1', most),
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
 * only a range of an index can contain them: less than 10^spread is between the two prices.
 */
function enclosingSource(filter: ProductFilter): Source {
  const { values, keys, from, where, order } = enclosingRange(filter)
  // A bounded subquery for each spread: PostgreSQL would read the whole table for all of them at once.
  const entries = (columns: SQL, most: number | undefined) =>
    engine === 'sqlite'
      ? sql`select ${columns} from ${values} cross join ${from} on ${where} ${limitTo(most)}`
      : sql`select d.* from ${values} cross join lateral
          (select ${columns} from ${from} where ${where} order by ${order} ${limitTo(most)}) d ${limitTo(most)}`
  return {
    satisfied: filter.maxPrice === undefined ? ['minPrice'] : ['minPrice', 'maxPrice'],
    rows: (most) => entries(sql.raw(`${keys}, ${filterColumns}`), most),
    counted: (most) => entries(sql`1`, most),
    idSuffix: filter.maxPrice === undefined ? idSuffixOf.price : idSuffixOf.newest,
    hasTitleKey: true,
  }
}

/** Returns the SQL of the documents of one spread `s`: by their highest price; without `maxPrice` by their lowest. */
function enclosingRange({ shopId, minPrice = 0, maxPrice }: ProductFilter) {
  const [index, keys, order, boundOf, range] =
    maxPrice === undefined
      ? ([
          'product_documents_spread_price',
          'price_key, title_key',
          'price_key desc',
          (power: number) => `'${priceKeyFrom(Math.max(0, minPrice - power + 1))}'`,
          sql`price_key >= s.bound and price_key < ${priceKeyFrom(minPrice)} and max_price >= ${minPrice}`,
        ] as const)
      : ([
          'product_documents_spread',
          'newest_key, title_key',
          'max_price',
          (power: number) => Math.min(minPrice + power, maxPrice + 1),
          sql`max_price >= ${minPrice} and max_price < s.bound and min_price < ${minPrice}`,
        ] as const)
  const bounds = Array.from({ length: spreadMax }, (_, at) => `(${at + 1}, ${boundOf(10 ** (at + 1))})`)
  return {
    values: sql.raw(`(select column1 as digits, column2 as bound from (values ${bounds.join(', ')}) v) s`),
    keys,
    order: sql.raw(order),
    from: sql`product_documents ${indexedBy(index)}`,
    where: sql`shop_id = ${shopId} and spread = s.digits and spread > 0 and ${range}`,
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
 * Returns sets of sources, each of which includes all products within the price range whose lowest price is below it.
 * If there are few prices in the range, those are read; otherwise the prices of each product.
 */
function setsBelow(filter: ProductFilter): Source[][] {
  if (!filter.minPrice) return [[]]
  const enclosing = [enclosingSource({ ...filter, maxPrice: undefined })]
  return filter.maxPrice === undefined ? [enclosing] : [enclosing, [enclosingSource(filter), innerSource(filter)]]
}

/**
 * Returns sets of sources, each of which includes all matches, in an order other than the list's.
 * @param facets those by which products within the price range are read
 */
function unsortedSets(filter: ProductFilter, order: Order, facets: readonly Facet[]): Source[][] {
  const { available, minPrice, maxPrice } = filter
  const isPriced = minPrice !== undefined || maxPrice !== undefined
  const inRange = (isPriced ? (facets.length === 0 ? [undefined] : facets) : []).map((facet) => sortedSource(filter, 'price', false, facet))
  return [
    ...inRange.flatMap((source) => setsBelow(filter).map((sources) => [source, ...sources])),
    ...pairSources(filter).map((source) => [source]),
    ...(available !== undefined && order !== 'newest' && facets.length === 0 ? [[sortedSource(filter, 'newest', true, 'available')]] : []),
  ]
}

/** Counts the entries of sources. Infinity: more than `most`. */
async function countEntries(read: Rows, sources: readonly Source[], most: number): Promise<Map<Source, number>> {
  const distinct = [...new Set(sources)]
  if (distinct.length === 0) return new Map()
  const counts = distinct.map(
    ({ rows, counted = rows }, at) => sql`select ${sql.raw(String(at))} as at, count(*) as n from (${counted(most + 1)}) n`,
  )
  const found = await read.rows<{ at: number; n: number | string }>(sql.join(counts, sql` union all `))
  const sizes = new Map(found.map(({ at, n }) => [distinct[Number(at)], Number(n)]))
  return new Map(distinct.map((source) => [source, (sizes.get(source) ?? 0) > most ? Number.POSITIVE_INFINITY : (sizes.get(source) ?? 0)]))
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

const titleKey = sql`(select title_key from product_documents f ${indexedBy('product_documents_facts')} where f.product_id = ${productIdIn(sql.raw('id_suffix'))})`

/** Selects at most `most` matches of each source. The limit keeps both engines from merging the queries. */
const matchesOf = (filter: ProductFilter, sources: readonly Source[], most: number): SQL =>
  sql.join(
    sources.map(({ satisfied, rows, idSuffix, hasTitleKey }) => {
      const conditions = [...columnConditions(filter, satisfied), ...lookupConditions(filter, productIdIn(idSuffix), satisfied)]
      const title = sql.raw(hasTitleKey ? 'c.title_key' : 'cast(null as text)')
      return sql`select * from (select ${idSuffix} as id_suffix, visible_from, min_price, ${title} as title_key
        from (${rows()}) c where ${allOf(conditions)} limit ${most}) m`
    }),
    sql` union all `,
  )

/** Counts the matches among the entries of sources, up to `most`. */
async function countMatches(read: Rows, filter: ProductFilter, sources: readonly Source[], most: number): Promise<number> {
  const [row] = await read.rows<{ n: number | string }>(
    sql`select count(*) as n from (select 1 from (${matchesOf(filter, sources, most)}) f limit ${most}) n`,
  )
  return Number(row?.n)
}

/**
 * Returns the first matches among the entries of sources, and the number of matches.
 * @param most at least the number of matches of each source
 * @param total the number of matches if it has been counted
 */
async function sortMatches(
  read: Rows,
  filter: ProductFilter,
  sources: readonly Source[],
  { order, descending }: Exclude<ProductSort, 'collection'>,
  { most, limit, total }: { most: number; limit: number; total?: number | undefined },
): Promise<{ ids: string[]; total: number }> {
  const keys = {
    newest: sql.raw('visible_from'),
    price: sql.raw('min_price'),
    title: sql`coalesce(title_key, ${titleKey})`,
  }
  const direction = sql.raw(descending ? 'desc' : 'asc')
  const rows = await read.rows<{ id_suffix: string; n: number | string }>(
    sql`select id_suffix, ${sql.raw(total === undefined ? 'count(*) over ()' : String(total))} as n from (${matchesOf(filter, sources, most)}) f
      order by ${keys[order]} ${direction}, id_suffix ${direction} limit ${Math.max(1, limit)}`,
  )
  return { ids: rows.slice(0, limit).map(({ id_suffix }) => productIdOf(id_suffix)), total: Number(rows[0]?.n ?? 0) }
}

/** Returns the first matches in the order of an index. */
async function walkIndex(read: Rows, filter: ProductFilter, { satisfied, rows, idSuffix }: Source, limit: number): Promise<string[]> {
  const conditions = [...columnConditions(filter, satisfied), ...lookupConditions(filter, productIdIn(idSuffix), satisfied)]
  const found = await read.rows<{ id_suffix: string }>(
    sql`select ${idSuffix} as id_suffix from (${rows()}) c where ${allOf(conditions)} limit ${limit}`,
  )
  return found.map(({ id_suffix }) => productIdOf(id_suffix))
}

/** Returns the first matches, by price, whose lowest price is below the range. */
async function walkEnclosing(read: Rows, filter: ProductFilter, descending: boolean, limit: number): Promise<string[]> {
  const { values, from, where } = enclosingRange({ ...filter, maxPrice: undefined })
  const byPrice = sql.raw(`order by price_key ${descending ? 'desc' : 'asc'}`)
  const conditions = [...columnConditions(filter, ['minPrice']), ...lookupConditions(filter, productIdIn(idSuffixOf.price), ['minPrice'])]
  const matches = sql`select price_key from (select ${sql.raw(`price_key, ${filterColumns}`)} from ${from} where ${where} ${byPrice}) c
    where ${allOf(conditions)} limit ${limit}`
  // Reads the first matches of each spread. SQLite has no lateral subqueries; arguments of json_each can be correlated.
  const all =
    engine === 'sqlite'
      ? sql`select value as price_key from ${values} cross join json_each((select json_group_array(price_key) from (${matches})))`
      : sql`select m.price_key from ${values} cross join lateral (${matches}) m`
  const found = await read.rows<{ id_suffix: string }>(
    sql`select ${idSuffixOf.price} as id_suffix from (${all}) c ${byPrice} limit ${limit}`,
  )
  return found.map(({ id_suffix }) => productIdOf(id_suffix))
}

/** Returns the sum of the costs of each source's entries. */
const costOf = (sources: readonly Source[], counts: ReadonlyMap<Source, number>): number =>
  sources.reduce((sum, source) => sum + (counts.get(source) ?? 0) * (source.needsLookup ? lookupCost : 1), 0)

/**
 * Returns the first products that meet a filter, and how many meet it. Sorts the matches of the set of sources with the
 * fewest entries if they are few; otherwise reads the shortest index that has the order of the list.
 * @param end number of products to return, from the first of the list
 * @param totalMax the largest exact total; a larger one only tells that more match. `end` is at most as large
 */
export async function filteredProducts(
  read: Rows,
  filter: ProductFilter,
  sort: ProductSort,
  { end, totalMax }: { end: number; totalMax: number },
): Promise<{ ids: string[]; total: number }> {
  const inOrder = async (source: Source) => {
    const ids = await walkIndex(read, filter, source, totalMax + 1)
    return { ids, total: ids.length }
  }
  if (sort === 'collection') return inOrder(collectionSource(filter))
  const { order, descending } = sort
  const few = totalMax + sortedPerProduct * end
  const facets = facetsOf(filter, order)
  const isPriced = filter.minPrice !== undefined || filter.maxPrice !== undefined
  const sorted = (sources: readonly Source[], total?: number) =>
    sortMatches(read, filter, sources, sort, { most: collectionMax, limit: end, total })
  if (filter.collectionId !== undefined) return sorted([collectionSource(filter)])
  const isOfOneList = !isPriced && facets.length <= 1 && (filter.available === undefined || order === 'newest')
  const sizes = isOfOneList ? [] : await listSizesOf(read, filter, facets)
  const bySize = facets.map((facet, at) => ({ facet, cost: sizes[at] ?? 0 })).toSorted((a, b) => a.cost - b.cost)
  const [shortest] = bySize
  const priceFacet = bySize.find(({ facet }) => facet !== 'available')?.facet
  const sets = unsortedSets(filter, order, priceFacet ? [priceFacet] : [])
  const counts = await countEntries(read, sets.flat(), few)
  const set = cheapest(sets.map((sources) => ({ sources, cost: costOf(sources, counts) })))
  // If several pairs are all too long to count, the list itself is read.
  const isUnknown = set?.cost === Number.POSITIVE_INFINITY && !isPriced && sets.length > 1
  if (!set || isUnknown || (shortest && shortest.cost <= Math.min(set.cost, lookupCost * few)))
    return inOrder(sortedSource({ ...filter, minPrice: undefined }, order, descending, shortest?.facet))
  if (set.cost < Number.POSITIVE_INFINITY) return sorted(set.sources)
  const total = await countMatches(read, filter, set.sources, few + 1)
  if (total <= few) return sorted(set.sources, total)
  const walk = (limit: number) => walkIndex(read, filter, sortedSource(filter, order, descending, shortest?.facet), limit)
  if (order !== 'price' || !filter.minPrice) return { ids: await walk(end), total }
  // By price, products whose lowest price is below the range come before it.
  const walkBelow = (limit: number) => walkEnclosing(read, filter, descending, limit)
  const [first, second] = descending ? [walk, walkBelow] : [walkBelow, walk]
  const ids = await first(end)
  return { ids: ids.length < end ? [...ids, ...(await second(end - ids.length))] : ids, total }
}

/**
 * Returns all products that meet a filter if one of its conditions has at most `most` candidates; otherwise undefined.
 */
export async function fewProducts(read: Rows, filter: ProductFilter, most: number): Promise<string[] | undefined> {
  const sets = [
    ...facetsOf(filter, 'newest').map((facet) => [sortedSource(filter, 'newest', true, facet)]),
    ...(filter.collectionId === undefined ? [] : [[collectionSource(filter)]]),
    ...unsortedSets(filter, 'newest', facetsOf(filter, 'price')),
  ]
  const counts = await countEntries(read, sets.flat(), most)
  const few = cheapest(sets.map((sources) => ({ sources, cost: sources.reduce((sum, source) => sum + (counts.get(source) ?? 0), 0) })))
  if (!few || few.cost > most) return undefined
  return (await sortMatches(read, filter, few.sources, { order: 'newest', descending: true }, { most, limit: 2 * most })).ids
}
