import { sql } from 'drizzle-orm'
import type { Reader, Writer } from '../engine.ts'
import { fillsOf } from '../search-backfill.ts'
import {
  filteredMax,
  filterOfFound,
  isFiltered,
  type ProductSearch,
  type SearchableProduct,
  wanted,
  wordsAndTags,
} from '../search-words.ts'

/**
 * FTS5. Every word carries the shop's id in front, so that a search costs what the shop holds and not what the
 * instance holds. FTS5 walks its rowids in order, which makes newest-first cheap for the commonest word. How words begin are terms too, as in
 * `admin-search.ts`.
 */
export const sqliteSearch: ProductSearch = {
  async add(tx, product) {
    const { productId, visibleFrom } = product
    const first = sql`${visibleFrom} * 1048576`
    await tx.rows(
      sql`insert into product_ranks (rank, product_id) values (coalesce((select max(rank) + 1 from product_ranks where rank between ${first} and ${first} + 1048575), ${first}), ${productId})`,
    )
    await putTerms(tx, product)
  },
  async renew(tx, product) {
    await tx.rows(sql`delete from product_words where rowid = (select rank from product_ranks where product_id = ${product.productId})`)
    await putTerms(tx, product)
  },
  async remove(tx, productId) {
    await tx.rows(sql`delete from product_words where rowid = (select rank from product_ranks where product_id = ${productId})`)
    await tx.rows(sql`delete from product_ranks where product_id = ${productId}`)
  },
  async find(read, query) {
    const { whole, last } = wanted(query)
    const prefix = shopPrefix(query.shopId)
    const known = await knownOf(read, query.shopId, last)
    const match = [...whole.map((word) => `"${prefix}${word}"`), begunBy(prefix, last, known)].join(' AND ')
    const found = sql`product_words w where w.product_words match ${match} and w.rowid < (${query.now} + 1) * 1048576`
    const isComplete = known !== 'SOME'
    const { among, limit } = query
    if (among?.length === 0) return { ids: [], isComplete }
    if (!isFiltered(query)) {
      const rows = await read.rows<{ id: string }>(
        sql`select r.product_id as id from (select w.rowid as rank from ${found} order by w.rowid desc limit ${limit}) w
            cross join product_ranks r on r.rank = w.rank`,
      )
      return { ids: rows.map(({ id }) => id), isComplete }
    }
    const most = among ? amongMatchesMax : filteredMax
    const meets = among ? sql`w.rank in (select rank from product_ranks where product_id in ${[...among]})` : filterOfFound(query)
    const rows = await read.rows<{ id: string }>(
      sql`select f.product_id as id from (select w.rowid as rank from ${found} order by w.rowid desc limit ${most}) w
          cross join product_ranks f on f.rank = w.rank where ${meets} limit ${limit}`,
    )
    const ids = rows.map(({ id }) => id)
    if (ids.length >= limit || !isComplete) return { ids, isComplete }
    const beyond = await read.rows(sql`select 1 as one from ${found} order by w.rowid desc limit 1 offset ${most}`)
    return { ids, isComplete: beyond.length === 0 }
  },
}

/** Products that hold the words, of which so many are held against a list of those that meet the filter. */
const amongMatchesMax = 40_000

const { fillOf } = fillsOf('PRODUCTS')

/** Letters of a word that are kept as how it begins: what is longer leads to few words, which FTS5 gathers by itself. */
const begunMax = 20
/** Of a shop of so many products, FTS5 gathers the words that begin alike in some ten milliseconds; it takes seconds of a million. */
const gatheredMax = 10_000

/**
 * Every word and tag that a product is found by, and how each word begins, behind a sign that neither has.
 * @returns terms, apart by spaces
 */
export function productTerms(product: SearchableProduct): string {
  const prefix = shopPrefix(product.shopId)
  const terms = new Set(wordsAndTags(product).map((word) => prefix + word))
  for (const word of product.words) {
    let begun = `${prefix}__`
    for (const letter of [...word].slice(0, begunMax)) {
      begun += letter
      terms.add(begun)
    }
  }
  return [...terms].join(' ')
}

const putTerms = (tx: Writer, product: SearchableProduct) =>
  tx.rows(
    sql`insert into product_words (rowid, words) select rank, ${productTerms(product)} from product_ranks where product_id = ${product.productId}`,
  )

/** What tells the products that have a word that begins so: terms of their own; the whole words, gathered; or, of a large shop whose index is still being filled, whatever of both there is. */
type Known = 'TERMS' | 'GATHERED' | 'SOME'

async function knownOf(read: Reader, shopId: string, word: string): Promise<Known> {
  if ([...word].length > begunMax) return 'GATHERED'
  if ((await fillOf(read)) === undefined) return 'TERMS'
  const [first] = await read.rows<{ n: number }>(
    sql`select count(*) as n from (select 1 from product_documents where shop_id = ${shopId} limit ${gatheredMax + 1})`,
  )
  return (first?.n ?? 0) <= gatheredMax ? 'GATHERED' : 'SOME'
}

function begunBy(prefix: string, word: string, known: Known): string {
  if (known === 'GATHERED') return `"${prefix}${word}" *`
  return known === 'TERMS' ? `"${prefix}__${word}"` : `("${prefix}__${word}" OR "${prefix}${word}")`
}

/** The random end of the id: letters and digits, of one length, so that no word runs into it. */
const shopPrefix = (shopId: string) => shopId.slice(shopId.indexOf('_') + 1)
