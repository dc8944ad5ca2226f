/**
 * Filtered lists of products. Every statement reads a range of one index and stops after a fixed number of entries, so
 * a page costs about the same in a shop of any size.
 */
import { type SQL, sql } from 'drizzle-orm'
import { engine } from './columns.ts'
import type { Reader } from './engine.ts'
import {
  conditionsOf,
  indexedBy,
  isAvailable,
  orderedJoin,
  type ProductFilter,
  productIdIn,
  productIdOf,
  spreadMax,
} from './product-filter.ts'

/** `collection`: the order of the collection that the filter names. */
export type ProductSort = { readonly order: 'newest' | 'title' | 'price'; readonly descending: boolean } | 'collection'
/** @property isComplete false if more products may match */
export type FilteredProducts = { readonly ids: string[]; readonly isComplete: boolean }

/** Limit of candidates that are read and sorted first. A collection has no more products. */
const sortedFirstMax = 5_000
/** Limit of index entries that are read in the order of a list. */
const walkMax = 20_000
/** Limit of candidates that are read and sorted if walking the index found too few matches. */
const sortedMax = 100_000

/**
 * Index entries that include every product that matches.
 * @property satisfied filter conditions that every entry meets
 * @property rows selects at most `most` entries with the filter columns
 * @property keys selects the same entries without these columns, if that is cheaper
 * @property idSuffix SQL for the suffix of the product id of an entry `c`
 */
type Source = {
  readonly satisfied: readonly (keyof ProductFilter)[]
  readonly rows: (most: number) => SQL
  readonly keys?: (most: number) => SQL
  readonly idSuffix: SQL
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
const filterColumns = sql.raw('visible_from, vendor, type, available, min_price, max_price, tag_bits')
const joinedFilterColumns = sql.raw('f.visible_from, f.vendor, f.type, f.available, f.min_price, f.max_price, f.tag_bits')

type Order = 'newest' | 'title' | 'price'
/** Conditions that have indexes of their own. `available` has one for the order `newest` only. */
type Facet = 'vendor' | 'type' | 'tag' | 'available'

/** The range of a sort key that can match. By price: of products whose lowest price is within the filter's range. */
function rangeOf({ now, minPrice, maxPrice }: ProductFilter, order: Order): SQL {
  if (order === 'newest') return sql`and newest_key < ${newestKeyAbove(now)}`
  if (order === 'title') return sql.empty()
  const below = maxPrice === undefined ? undefined : priceKeyAbove(maxPrice)
  return sql`${minPrice ? sql`and price_key >= ${priceKeyFrom(minPrice)}` : sql.empty()} ${below === undefined ? sql.empty() : sql`and price_key < ${below}`}`
}
const satisfiedBy = { newest: ['now'], title: [], price: ['minPrice', 'maxPrice'] } as const

/** Selects the shop's documents, or those with the filter's value of a facet, in an order. */
function sortedSource(filter: ProductFilter, order: Order, descending: boolean, facet?: Facet): Source {
  const { shopId, tag, vendor, type, available } = filter
  const key = sql.raw(`${order}_key`)
  const sorted = (most: number) => sql`order by ${key} ${sql.raw(descending ? 'desc' : 'asc')} limit ${most}`
  const [satisfied, idSuffix] = [[...satisfiedBy[order], ...(facet ? [facet] : [])], idSuffixOf[order]]
  if (facet === 'tag') {
    const keys = (most: number) => sql`select ${key} from product_tags ${indexedBy(`product_tags_${order}`)}
      where shop_id = ${shopId} and tag = ${tag} ${rangeOf(filter, order)} ${sorted(most)}`
    const rows = (most: number) => sql`select c.${key}, ${joinedFilterColumns} from (${keys(most)}) c
      ${orderedJoin} product_documents f ${indexedBy('product_documents_facts')} on f.product_id = ${productIdIn(idSuffix)}
      order by c.${key} ${sql.raw(descending ? 'desc' : 'asc')}`
    return { satisfied, rows, keys, idSuffix }
  }
  const shares = {
    vendor: sql`and vendor = ${vendor}`,
    type: sql`and type = ${type}`,
    available: sql`and ${isAvailable(available === true)}`,
  }
  const index = ['product_documents', facet, facet && order === 'newest' ? undefined : order].filter((part) => part !== undefined).join('_')
  const rows = (most: number) => sql`select ${key}, ${filterColumns} from product_documents ${indexedBy(index)}
    where shop_id = ${shopId} ${facet ? shares[facet] : sql.empty()} ${rangeOf(filter, order)} ${sorted(most)}`
  return { satisfied, rows, idSuffix }
}

const collectionRows = ({ collectionId, now }: ProductFilter, most: number) =>
  sql`select product_id from collection_products ${indexedBy('collection_products_order')}
    where collection_id = ${collectionId} and visible_from <= ${now} order by position limit ${most}`

function collectionSource(filter: ProductFilter): Source {
  return {
    satisfied: ['now', 'collectionId'],
    rows: (most) => sql`select m.product_id, ${joinedFilterColumns} from (${collectionRows(filter, most)}) m
      ${orderedJoin} product_documents f ${indexedBy('product_documents_facts')} on f.product_id = m.product_id`,
    keys: (most) => collectionRows(filter, most),
    idSuffix: idSuffixOf.id,
  }
}

/**
 * Selects documents whose lowest price is below `minPrice` and whose highest is not. For each `spread` only a range of
 * the index can contain them: their highest price is less than 10^spread above `minPrice`.
 */
function enclosingSource({ shopId, minPrice = 0 }: ProductFilter): Source {
  const spreads = sql.join(
    Array.from({ length: spreadMax }, (_, at) => sql.raw(`select ${at + 1} as digits, ${minPrice + 10 ** (at + 1)} as below`)),
    sql` union all `,
  )
  return {
    satisfied: ['minPrice'],
    rows: (most) => {
      const of = sql`product_documents ${indexedBy('product_documents_spread')}`
      const encloses = sql`shop_id = ${shopId} and spread = s.digits and spread > 0 and max_price >= ${minPrice} and max_price < s.below
        and min_price < ${minPrice}`
      // A bounded subquery for each spread: PostgreSQL would read the whole table for all of them at once.
      return engine === 'sqlite'
        ? sql`select newest_key, ${filterColumns} from (${spreads}) s cross join ${of} on ${encloses} limit ${most}`
        : sql`select d.* from (${spreads}) s cross join lateral (select newest_key, ${filterColumns} from ${of}
            where ${encloses} order by max_price limit ${most}) d limit ${most}`
    },
    idSuffix: idSuffixOf.newest,
  }
}

/** Returns sets of index entries that include all matches: one set for each condition that has an index. */
function sourcesOf(filter: ProductFilter): Source[][] {
  const sources = facetsOf(filter, 'newest').map((facet) => [sortedSource(filter, 'newest', true, facet)])
  if (filter.collectionId !== undefined) sources.push([collectionSource(filter)])
  if (filter.minPrice === undefined && filter.maxPrice === undefined) return sources
  return [...sources, pricedSources(filter, false), ...facetsOf(filter, 'price').map((facet) => pricedSources(filter, false, facet))]
}

const facetsOf = (filter: ProductFilter, order: Order): Facet[] =>
  (['vendor', 'type', 'tag', 'available'] as const).filter(
    (one) => filter[one] !== undefined && (order === 'newest' || one !== 'available'),
  )

/** In the order of prices. */
function pricedSources(filter: ProductFilter, descending: boolean, facet?: Facet): Source[] {
  const within = sortedSource(filter, 'price', descending, facet)
  if (!filter.minPrice) return [within]
  return descending ? [within, enclosingSource(filter)] : [enclosingSource(filter), within]
}

/** Cost of an entry whose filter columns are read from another index, relative to other entries. */
const lookupCost = 4

/** Returns the cheapest source among those with at most `most` entries. */
async function smallestOf(
  read: Pick<Reader, 'rows'>,
  sources: readonly (readonly Source[])[],
  most: number,
): Promise<readonly Source[] | undefined> {
  if (sources.length === 0) return undefined
  const counts = sources.map((parts, at) => {
    const sums = parts.map(({ rows, keys = rows }) => sql`(select count(*) from (${keys(most + 1)}) n)`)
    return sql`select ${sql.raw(String(at))} as at, ${sql.join(sums, sql` + `)} as n`
  })
  const rows = await read.rows<{ at: number; n: number | string }>(sql.join(counts, sql` union all `))
  const cost = ({ at, n }: (typeof rows)[number]) => Number(n) * (sources[Number(at)]?.some(({ keys }) => keys) ? lookupCost : 1)
  const [first] = rows.filter(({ n }) => Number(n) <= most).sort((a, b) => cost(a) - cost(b))
  return first && sources[Number(first.at)]
}

const titleKey = (idSuffix: SQL) =>
  sql`(select title_key from product_documents f ${indexedBy('product_documents_facts')} where f.product_id = ${productIdIn(idSuffix)})`

/** Reads at most `most` entries of each source and sorts the matches. */
async function sortMatches(
  read: Pick<Reader, 'rows'>,
  filter: ProductFilter,
  parts: readonly Source[],
  sort: ProductSort,
  { most, limit }: { most: number; limit: number },
): Promise<string[]> {
  const order = sort === 'collection' ? sort : sort.order
  const matches = parts.map(
    ({ satisfied, rows, idSuffix }) => sql`select ${idSuffix} as id_suffix, visible_from, min_price
      from (${rows(most)}) c where ${conditionsOf(filter, productIdIn(idSuffix), satisfied)}`,
  )
  const direction = sql.raw(sort !== 'collection' && sort.descending ? 'desc' : 'asc')
  const keys = {
    collection: sql`(select position from collection_products m where m.collection_id = ${filter.collectionId} and m.product_id = ${productIdIn(sql`id_suffix`)})`,
    newest: sql`visible_from ${direction}, id_suffix ${direction}`,
    price: sql`min_price ${direction}, id_suffix ${direction}`,
    title: sql`${titleKey(sql`id_suffix`)} ${direction}`,
  }
  const rows = await read.rows<{ id_suffix: string }>(
    sql`select id_suffix from (${sql.join(matches, sql` union all `)}) found order by ${keys[order]} limit ${limit}`,
  )
  return rows.map(({ id_suffix }) => productIdOf(id_suffix))
}

/** Returns the first matches in the order of an index. Reads at most `walkMax` entries. */
async function walkIndex(read: Pick<Reader, 'rows'>, filter: ProductFilter, source: Source, limit: number): Promise<string[]> {
  const { satisfied, rows, idSuffix } = source
  const found = await read.rows<{ id_suffix: string }>(
    sql`select ${idSuffix} as id_suffix from (${rows(walkMax)}) c where ${conditionsOf(filter, productIdIn(idSuffix), satisfied)} limit ${limit}`,
  )
  return found.map(({ id_suffix }) => productIdOf(id_suffix))
}

/**
 * Returns the index entries to read for an order, sorted: those of the smallest facet if it has at most `walkMax`,
 * otherwise those of the first.
 * @returns one or two sources
 */
async function walkOf(
  read: Pick<Reader, 'rows'>,
  filter: ProductFilter,
  { order, descending }: Exclude<ProductSort, 'collection'>,
): Promise<readonly Source[]> {
  const of = (facet?: Facet) =>
    order === 'price' ? pricedSources(filter, descending, facet) : [sortedSource(filter, order, descending, facet)]
  const walks = facetsOf(filter, order).map(of)
  return (walks.length > 1 ? await smallestOf(read, walks, walkMax) : undefined) ?? walks[0] ?? of()
}

async function hasMoreThan(read: Pick<Reader, 'rows'>, { rows }: Source, most: number): Promise<boolean> {
  const [counted] = await read.rows<{ n: number | string }>(sql`select count(*) as n from (${rows(most + 1)}) n`)
  return Number(counted?.n) > most
}

const filterNames = ['tag', 'collectionId', 'vendor', 'type', 'available', 'minPrice', 'maxPrice'] as const

/**
 * Returns the first products that meet a filter, in the order of a list.
 * @param limit maximum number of ids; if as many are returned, more may match
 */
export async function filteredProducts(
  read: Pick<Reader, 'rows'>,
  filter: ProductFilter,
  sort: ProductSort,
  limit: number,
): Promise<FilteredProducts> {
  const isComplete = true
  const [name, second] = filterNames.filter((one) => filter[one] !== undefined)
  const isOnly = (wanted: (typeof filterNames)[number]) => name === wanted && second === undefined
  if (sort === 'collection' && isOnly('collectionId')) {
    const rows = await read.rows<{ product_id: string }>(collectionRows(filter, limit))
    return { ids: rows.map(({ product_id }) => product_id), isComplete }
  }
  if (sort !== 'collection' && sort.order === 'newest' && isOnly('tag')) {
    const { keys, rows } = sortedSource(filter, 'newest', true, 'tag')
    const found = await read.rows<{ newest_key: string }>((keys ?? rows)(limit))
    return { ids: found.map(({ newest_key }) => productIdOf(newest_key.slice(10))), isComplete }
  }
  // Of one facet alone every visible entry matches.
  const only = sort === 'collection' ? undefined : facetsOf(filter, sort.order).find(isOnly)
  if (sort !== 'collection' && only) {
    const ids = await walkIndex(read, filter, sortedSource(filter, sort.order, sort.descending, only), limit)
    if (ids.length >= limit || sort.order === 'newest') return { ids, isComplete }
  }
  const sources = sourcesOf(filter)
  const few = await smallestOf(read, sources, sortedFirstMax)
  if (few) return { ids: await sortMatches(read, filter, few, sort, { most: sortedFirstMax, limit }), isComplete }
  const found = sort === 'collection' ? undefined : await alongOrder(read, filter, sort, limit)
  if (found?.isComplete) return found
  const more = await smallestOf(read, sources, sortedMax)
  if (more) return { ids: await sortMatches(read, filter, more, sort, { most: sortedMax, limit }), isComplete }
  return found ?? { ids: [], isComplete: false }
}

async function alongOrder(
  read: Pick<Reader, 'rows'>,
  filter: ProductFilter,
  sort: Exclude<ProductSort, 'collection'>,
  limit: number,
): Promise<FilteredProducts> {
  const ids: string[] = []
  for (const part of await walkOf(read, filter, sort)) {
    const left = limit - ids.length
    // `enclosingSource` is not sorted.
    const isSorted = sort.order !== 'price' || part.idSuffix === idSuffixOf.price
    const found = isSorted
      ? await walkIndex(read, filter, part, left)
      : await sortMatches(read, filter, [part], sort, { most: sortedMax, limit: left })
    ids.push(...found)
    if (ids.length >= limit) return { ids, isComplete: true }
    if (await hasMoreThan(read, part, isSorted ? walkMax : sortedMax)) return { ids, isComplete: false }
  }
  return { ids, isComplete: true }
}

/**
 * Returns all products that meet a filter if one of its conditions has at most `most` candidates; otherwise undefined.
 */
export async function fewProducts(read: Pick<Reader, 'rows'>, filter: ProductFilter, most: number): Promise<string[] | undefined> {
  const few = await smallestOf(read, sourcesOf(filter), most)
  return few && sortMatches(read, filter, few, { order: 'newest', descending: true }, { most, limit: 2 * most })
}
