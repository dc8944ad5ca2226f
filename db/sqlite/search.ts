import { sql } from 'drizzle-orm'
import type { Reader, Writer } from '../engine.ts'
import { fillsOf } from '../search-fills.ts'
import { onlySuchAs, type ProductSearch, type SearchableProduct, wanted, wordsAndTags } from '../search-words.ts'

/**
 * FTS5. Every word carries the shop's id in front, so that a search costs what the shop holds and not what the
 * instance holds. FTS5 walks its rowids in order, which makes newest-first cheap for the commonest word. How words begin are terms too, as in
 * `shop-words.ts`.
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
    const { collectionId } = query
    const inCollection = collectionId === undefined ? sql`` : await membersOf(read, collectionId)
    const rows = await read.rows<{ id: string }>(
      sql`select r.product_id as id from product_words w join product_ranks r on r.rank = w.rowid
          where w.product_words match ${match} and w.rowid < (${query.now} + 1) * 1048576 ${inCollection} ${onlySuchAs(query, sql`r.product_id`)}
          order by w.rowid desc limit ${query.limit}`,
    )
    return { ids: rows.map(({ id }) => id), isWhole: known !== 'SOME' }
  },
}

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

/** A few members are looked up among the words one by one; many are gathered, and what the words lead to is held against them. */
async function membersOf(read: Reader, collectionId: string) {
  const ranks = sql`select m.rank from collection_products c join product_ranks m on m.product_id = c.product_id where c.collection_id = ${collectionId}`
  const [size] = await read.rows<{ n: number }>(sql`select count(*) as n from collection_products where collection_id = ${collectionId}`)
  return (size?.n ?? 0) <= membersLookedUpMax ? sql`and w.rowid in (${ranks})` : sql`and +w.rowid in (${ranks})`
}

const membersLookedUpMax = 300

/** The random end of the id: letters and digits, of one length, so that no word runs into it. */
const shopPrefix = (shopId: string) => shopId.slice(shopId.indexOf('_') + 1)
