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

/** Documents of the shop that share a value, the newest first. */
function newestSource(filter: ProductFilter, name: 'newest' | 'vendor' | 'type' | 'available'): Source {
  const { shopId, now, vendor, type, available } = filter
  const shares = {
    newest: sql.empty(),
    vendor: sql`and vendor = ${vendor}`,
    type: sql`and type = ${type}`,
    available: sql`and ${isAvailable(available === true)}`,
  }
  return {
    known: name === 'newest' ? ['now'] : ['now', name],
    rows: (most) => sql`select newest_key, ${facts} from product_documents ${indexedBy(`product_documents_${name}`)}
      where shop_id = ${shopId} ${shares[name]} and newest_key < ${newestKeyAbove(now)} order by newest_key desc limit ${most}`,
    end: endOf.newest,
  }
}

const tagRows = ({ shopId, tag, now }: ProductFilter, most: number) =>
  sql`select newest_key from product_tags ${indexedBy('product_tags_newest')}
    where shop_id = ${shopId} and tag = ${tag} and newest_key < ${newestKeyAbove(now)} order by newest_key desc limit ${most}`

const factsOf = sql.raw('f.visible_from, f.vendor, f.type, f.available, f.min_price, f.max_price, f.tag_bits')

function tagSource(filter: ProductFilter): Source {
  return {
    known: ['now', 'tag'],
    rows: (most) => sql`select t.newest_key, ${factsOf} from (${tagRows(filter, most)}) t
      ${thenJoin} product_documents f ${indexedBy('product_documents_facts')} on f.product_id = ${productIdIn(sql.raw('substr(t.newest_key, 11)'))}`,
    bare: (most) => tagRows(filter, most),
    end: endOf.newest,
  }
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

/** Documents along the order of titles or prices. Of prices, those whose lowest is within the range. */
function orderSource(filter: ProductFilter, order: 'title' | 'price', descending: boolean): Source {
  const { shopId, minPrice, maxPrice } = filter
  const key = sql.raw(`${order}_key`)
  const [from, below] = [minPrice && priceKeyFrom(minPrice), maxPrice === undefined ? undefined : priceKeyAbove(maxPrice)]
  const range =
    order === 'title'
      ? sql.empty()
      : sql`${from ? sql`and price_key >= ${from}` : sql.empty()} ${below === undefined ? sql.empty() : sql`and price_key < ${below}`}`
  return {
    known: order === 'title' ? [] : ['minPrice', 'maxPrice'],
    rows: (most) => sql`select ${key}, ${facts} from product_documents ${indexedBy(`product_documents_${order}`)}
      where shop_id = ${shopId} ${range} order by ${key} ${sql.raw(descending ? 'desc' : 'asc')} limit ${most}`,
    end: endOf[order],
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

/** Those of a filter from which its products can be gathered, by the condition that leads to them. */
function sourcesOf(filter: ProductFilter): Source[][] {
  const { tag, collectionId, vendor, type, available, minPrice, maxPrice } = filter
  const sources: Source[][] = []
  if (collectionId !== undefined) sources.push([collectionSource(filter)])
  if (tag !== undefined) sources.push([tagSource(filter)])
  if (vendor !== undefined) sources.push([newestSource(filter, 'vendor')])
  if (type !== undefined) sources.push([newestSource(filter, 'type')])
  if (available !== undefined) sources.push([newestSource(filter, 'available')])
  if (minPrice !== undefined || maxPrice !== undefined) sources.push(pricedSources(filter, false))
  return sources
}

/** In the order of prices. */
function pricedSources(filter: ProductFilter, descending: boolean): Source[] {
  const within = orderSource(filter, 'price', descending)
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

/** What is walked for an order: entries in that order, in one or two parts. */
function walkOf(filter: ProductFilter, sort: Exclude<ProductSort, 'collection'>): Source[] {
  if (sort.order === 'price') return pricedSources(filter, sort.descending)
  if (sort.order === 'title') return [orderSource(filter, 'title', sort.descending)]
  const name = (['vendor', 'type', 'available'] as const).find((one) => filter[one] !== undefined)
  return [newestSource(filter, name ?? 'newest')]
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
    const rows = await read.rows<{ newest_key: string }>(tagRows(filter, limit))
    return { ids: rows.map(({ newest_key }) => productIdOf(newest_key.slice(10))), isWhole }
  }
  const value = (['vendor', 'type', 'available'] as const).find(isOnly)
  if (sort !== 'collection' && sort.order === 'newest' && sort.descending && value)
    return { ids: await walked(read, filter, newestSource(filter, value), limit), isWhole }
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
  for (const part of walkOf(filter, sort)) {
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
