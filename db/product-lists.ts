/**
 * Filtered lists of products. Every statement walks a range of one index and stops after a fixed number of entries, so that a page costs
 * about the same in a shop of any size.
 */
import { type SQL, sql } from 'drizzle-orm'
import { engine } from './columns.ts'
import type { Reader } from './engine.ts'
import {
  conditionsOf,
  indexedBy,
  isAvailable,
  type ProductFilter,
  productIdIn,
  productIdOf,
  spreadMax,
  thenJoin,
} from './product-filter.ts'

/** `collection`: the order of the collection that the filter names. */
export type ProductSort = { readonly order: 'newest' | 'title' | 'price'; readonly descending: boolean } | 'collection'
/** @property isWhole false where further products may match */
export type FilteredProducts = { readonly ids: string[]; readonly isWhole: boolean }

/** So many candidates of one condition are read and sorted at first. A collection holds no more. */
const gatheredFirst = 5_000
/** Entries that are read along the order of a list. */
const walkedMax = 20_000
/** So many candidates are read and sorted where walking found too few: an order may go against a condition. */
const gatheredMax = 100_000

/**
 * Index entries that include every product that matches.
 * @property known conditions of the filter that its entries meet
 * @property rows selects its entries, at most so many, with the columns of `product_documents` that conditions need
 * @property bare selects the same entries without these columns, where that is cheaper
 * @property end the random end of the product's id, of an entry `c`
 */
type Source = {
  readonly known: readonly (keyof ProductFilter)[]
  readonly rows: (most: number) => SQL
  readonly bare?: (most: number) => SQL
  readonly end: SQL
}

/** As price keys begin. */
const priceDigits = 15
const priceKeyFrom = (amount: number) => String(amount).padStart(priceDigits, '0')
/** Where keys by price begin that are above an amount; undefined beyond every price. */
const priceKeyAbove = (amount: number) => {
  const key = priceKeyFrom(amount + 1)
  return key.length > priceDigits ? undefined : key
}
/** As in `newestKeyAt` of the catalog: the keys of what is visible at a moment are below. */
const newestKeyAbove = (now: number) =>
  Math.max(0, now + 1)
    .toString(36)
    .padStart(9, '0')

const endOf = {
  newest: sql.raw('substr(c.newest_key, 11)'),
  price: sql.raw('substr(c.price_key, 17)'),
  title: sql.raw('substr(c.title_key, length(c.title_key) - 25)'),
  id: sql.raw('substr(c.product_id, 6)'),
}
const facts = sql.raw('visible_from, vendor, type, available, min_price, max_price, tag_bits')
const factsOf = sql.raw('f.visible_from, f.vendor, f.type, f.available, f.min_price, f.max_price, f.tag_bits')

type Order = 'newest' | 'title' | 'price'
/** Conditions for which an index has its own sequence of products. That of `available` exists in the order `newest` alone. */
type Facet = 'vendor' | 'type' | 'tag' | 'available'

/** The range of a sort key that can match. By price: of products whose lowest price is within the filter's range. */
function rangeOf({ now, minPrice, maxPrice }: ProductFilter, order: Order): SQL {
  if (order === 'newest') return sql`and newest_key < ${newestKeyAbove(now)}`
  if (order === 'title') return sql.empty()
  const below = maxPrice === undefined ? undefined : priceKeyAbove(maxPrice)
  return sql`${minPrice ? sql`and price_key >= ${priceKeyFrom(minPrice)}` : sql.empty()} ${below === undefined ? sql.empty() : sql`and price_key < ${below}`}`
}
const knownOf = { newest: ['now'], title: [], price: ['minPrice', 'maxPrice'] } as const

/** Documents of the shop, or those that share the value of a facet, in an order. */
function sortedSource(filter: ProductFilter, order: Order, descending: boolean, facet?: Facet): Source {
  const { shopId, tag, vendor, type, available } = filter
  const key = sql.raw(`${order}_key`)
  const sorted = (most: number) => sql`order by ${key} ${sql.raw(descending ? 'desc' : 'asc')} limit ${most}`
  const [known, end] = [[...knownOf[order], ...(facet ? [facet] : [])], endOf[order]]
  if (facet === 'tag') {
    const bare = (most: number) => sql`select ${key} from product_tags ${indexedBy(`product_tags_${order}`)}
      where shop_id = ${shopId} and tag = ${tag} ${rangeOf(filter, order)} ${sorted(most)}`
    const rows = (most: number) => sql`select c.${key}, ${factsOf} from (${bare(most)}) c
      ${thenJoin} product_documents f ${indexedBy('product_documents_facts')} on f.product_id = ${productIdIn(end)}
      order by c.${key} ${sql.raw(descending ? 'desc' : 'asc')}`
    return { known, rows, bare, end }
  }
  const shares = {
    vendor: sql`and vendor = ${vendor}`,
    type: sql`and type = ${type}`,
    available: sql`and ${isAvailable(available === true)}`,
  }
  const index = ['product_documents', facet, facet && order === 'newest' ? undefined : order].filter((part) => part !== undefined).join('_')
  const rows = (most: number) => sql`select ${key}, ${facts} from product_documents ${indexedBy(index)}
    where shop_id = ${shopId} ${facet ? shares[facet] : sql.empty()} ${rangeOf(filter, order)} ${sorted(most)}`
  return { known, rows, end }
}

const collectionRows = ({ collectionId, now }: ProductFilter, most: number) =>
  sql`select product_id from collection_products ${indexedBy('collection_products_order')}
    where collection_id = ${collectionId} and visible_from <= ${now} order by position limit ${most}`

function collectionSource(filter: ProductFilter): Source {
  return {
    known: ['now', 'collectionId'],
    rows: (most) => sql`select m.product_id, ${factsOf} from (${collectionRows(filter, most)}) m
      ${thenJoin} product_documents f ${indexedBy('product_documents_facts')} on f.product_id = m.product_id`,
    bare: (most) => collectionRows(filter, most),
    end: endOf.id,
  }
}

/**
 * Documents whose lowest price is below `minPrice` and whose highest is not. For each spread only a part of the index can hold them:
 * their highest price is less than the spread above `minPrice`.
 */
function enclosingSource({ shopId, minPrice = 0 }: ProductFilter): Source {
  const spreads = sql.join(
    Array.from({ length: spreadMax }, (_, at) => sql.raw(`select ${at + 1} as digits, ${minPrice + 10 ** (at + 1)} as below`)),
    sql` union all `,
  )
  return {
    known: ['minPrice'],
    rows: (most) => {
      const of = sql`product_documents ${indexedBy('product_documents_spread')}`
      const encloses = sql`shop_id = ${shopId} and spread = s.digits and spread > 0 and max_price >= ${minPrice} and max_price < s.below
        and min_price < ${minPrice}`
      // A bounded subquery for each spread: PostgreSQL would read the whole table for all of them at once.
      return engine === 'sqlite'
        ? sql`select newest_key, ${facts} from (${spreads}) s cross join ${of} on ${encloses} limit ${most}`
        : sql`select d.* from (${spreads}) s cross join lateral (select newest_key, ${facts} from ${of} where ${encloses} order by max_price limit ${most}) d
          limit ${most}`
    },
    end: endOf.newest,
  }
}

/** Sets of index entries that include all matches: one set for each condition of a filter that leads to them. */
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

/** An entry whose columns come from another index costs as much as so many others. */
const lookupCost = 4

/** The one of these that costs least, of those with at most so many entries. */
async function smallestOf(
  read: Pick<Reader, 'rows'>,
  sources: readonly (readonly Source[])[],
  most: number,
): Promise<readonly Source[] | undefined> {
  if (sources.length === 0) return undefined
  const counts = sources.map((parts, at) => {
    const sums = parts.map(({ rows, bare = rows }) => sql`(select count(*) from (${bare(most + 1)}) n)`)
    return sql`select ${sql.raw(String(at))} as at, ${sql.join(sums, sql` + `)} as n`
  })
  const rows = await read.rows<{ at: number; n: number | string }>(sql.join(counts, sql` union all `))
  const cost = ({ at, n }: (typeof rows)[number]) => Number(n) * (sources[Number(at)]?.some(({ bare }) => bare) ? lookupCost : 1)
  const [first] = rows.filter(({ n }) => Number(n) <= most).sort((a, b) => cost(a) - cost(b))
  return first && sources[Number(first.at)]
}

const titleKey = (end: SQL) =>
  sql`(select title_key from product_documents f ${indexedBy('product_documents_facts')} where f.product_id = ${productIdIn(end)})`

/** Reads all entries of a source and sorts those that match. */
async function gathered(
  read: Pick<Reader, 'rows'>,
  filter: ProductFilter,
  parts: readonly Source[],
  sort: ProductSort,
  { most, limit }: { most: number; limit: number },
): Promise<string[]> {
  const order = sort === 'collection' ? sort : sort.order
  const matches = parts.map(
    ({ known, rows, end }) => sql`select ${end} as id_end, visible_from, min_price
      from (${rows(most)}) c where ${conditionsOf(filter, productIdIn(end), known)}`,
  )
  const direction = sql.raw(sort !== 'collection' && sort.descending ? 'desc' : 'asc')
  const keys = {
    collection: sql`(select position from collection_products m where m.collection_id = ${filter.collectionId} and m.product_id = ${productIdIn(sql`id_end`)})`,
    newest: sql`visible_from ${direction}, id_end ${direction}`,
    price: sql`min_price ${direction}, id_end ${direction}`,
    title: sql`${titleKey(sql`id_end`)} ${direction}`,
  }
  const rows = await read.rows<{ id_end: string }>(
    sql`select id_end from (${sql.join(matches, sql` union all `)}) found order by ${keys[order]} limit ${limit}`,
  )
  return rows.map(({ id_end }) => productIdOf(id_end))
}

/** The first matches along the order of a list, from so many entries of an index. */
async function walked(read: Pick<Reader, 'rows'>, filter: ProductFilter, source: Source, limit: number): Promise<string[]> {
  const { known, rows, end } = source
  const found = await read.rows<{ id_end: string }>(
    sql`select ${end} as id_end from (${rows(walkedMax)}) c where ${conditionsOf(filter, productIdIn(end), known)} limit ${limit}`,
  )
  return found.map(({ id_end }) => productIdOf(id_end))
}

/**
 * The index entries to read for an order, in that order: of the smallest facet, which is read whole, or of the first facet.
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
  return (walks.length > 1 ? await smallestOf(read, walks, walkedMax) : undefined) ?? walks[0] ?? of()
}

async function hasMoreThan(read: Pick<Reader, 'rows'>, { rows }: Source, most: number): Promise<boolean> {
  const [counted] = await read.rows<{ n: number | string }>(sql`select count(*) as n from (${rows(most + 1)}) n`)
  return Number(counted?.n) > most
}

const filterNames = ['tag', 'collectionId', 'vendor', 'type', 'available', 'minPrice', 'maxPrice'] as const

/**
 * The first products that meet a filter, in the order of a list.
 * @param limit at most so many; where there are as many, more may match
 */
export async function filteredProducts(
  read: Pick<Reader, 'rows'>,
  filter: ProductFilter,
  sort: ProductSort,
  limit: number,
): Promise<FilteredProducts> {
  const isWhole = true
  const [name, second] = filterNames.filter((one) => filter[one] !== undefined)
  const isOnly = (wanted: (typeof filterNames)[number]) => name === wanted && second === undefined
  if (sort === 'collection' && isOnly('collectionId')) {
    const rows = await read.rows<{ product_id: string }>(collectionRows(filter, limit))
    return { ids: rows.map(({ product_id }) => product_id), isWhole }
  }
  if (sort !== 'collection' && sort.order === 'newest' && isOnly('tag')) {
    const { bare, rows } = sortedSource(filter, 'newest', true, 'tag')
    const found = await read.rows<{ newest_key: string }>((bare ?? rows)(limit))
    return { ids: found.map(({ newest_key }) => productIdOf(newest_key.slice(10))), isWhole }
  }
  // Of one facet alone every visible entry matches.
  const only = sort === 'collection' ? undefined : facetsOf(filter, sort.order).find(isOnly)
  if (sort !== 'collection' && only) {
    const ids = await walked(read, filter, sortedSource(filter, sort.order, sort.descending, only), limit)
    if (ids.length >= limit || sort.order === 'newest') return { ids, isWhole }
  }
  const sources = sourcesOf(filter)
  const few = await smallestOf(read, sources, gatheredFirst)
  if (few) return { ids: await gathered(read, filter, few, sort, { most: gatheredFirst, limit }), isWhole }
  const found = sort === 'collection' ? undefined : await alongOrder(read, filter, sort, limit)
  if (found?.isWhole) return found
  const more = await smallestOf(read, sources, gatheredMax)
  if (more) return { ids: await gathered(read, filter, more, sort, { most: gatheredMax, limit }), isWhole }
  return found ?? { ids: [], isWhole: false }
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
    // The enclosing products come in no order.
    const isSorted = sort.order !== 'price' || part.end === endOf.price
    const found = isSorted
      ? await walked(read, filter, part, left)
      : await gathered(read, filter, [part], sort, { most: gatheredMax, limit: left })
    ids.push(...found)
    if (ids.length >= limit) return { ids, isWhole: true }
    if (await hasMoreThan(read, part, isSorted ? walkedMax : gatheredMax)) return { ids, isWhole: false }
  }
  return { ids, isWhole: true }
}

/**
 * All products that meet a filter, where one of its conditions has few candidates.
 * @returns undefined where each has more than `most`
 */
export async function fewProducts(read: Pick<Reader, 'rows'>, filter: ProductFilter, most: number): Promise<string[] | undefined> {
  const few = await smallestOf(read, sourcesOf(filter), most)
  return few && gathered(read, filter, few, { order: 'newest', descending: true }, { most, limit: 2 * most })
}
