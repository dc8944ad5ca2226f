/** Full-text search, the one thing that no builder can say alike for both engines. Words come normalised from `lib/words.ts`. */
import { sql } from 'drizzle-orm'
import { engine } from './columns.ts'
import type { Reader, Writer } from './engine.ts'

export type SearchableProduct = {
  productId: string
  shopId: string
  visibleFrom: number
  words: readonly string[]
  /** In lower case. */
  tags: readonly string[]
}
export type SearchQuery = {
  shopId: string
  words: readonly string[]
  /** Products that become visible later do not match. Milliseconds. */
  now: number
  /** Only products that carry this tag, in lower case. */
  tag?: string | undefined
  /** Only products of this collection. */
  collectionId?: string | undefined
  limit: number
}

export interface ProductSearch {
  /** Makes the product findable; it must not be indexed yet. */
  add(tx: Writer, product: SearchableProduct): Promise<void>
  /** Forgets the product, if it was indexed. */
  remove(tx: Writer, productId: string): Promise<void>
  /** Ids of the products that hold every word, newest first. */
  find(read: Reader, query: SearchQuery): Promise<string[]>
}

/** A tag is one more word, which no text can hold: that of all words that are asked for, the rarest decides the cost. */
export const tagWord = (tag: string) => `_${Bun.hash.xxHash3(tag).toString(36)}`
const wordsAndTags = ({ words, tags }: SearchableProduct) => [...words, ...tags.map(tagWord)]
const wanted = ({ words, tag }: SearchQuery) => (tag === undefined ? words : [...words, tagWord(tag)])

/**
 * FTS5. Every word carries the shop's id in front, so that a search costs what the shop holds and not what the
 * instance holds. FTS5 walks its rowids in order, which makes newest-first cheap for the commonest word.
 */
const sqliteSearch: ProductSearch = {
  async add(tx, product) {
    const { productId, shopId, visibleFrom } = product
    const first = sql`${visibleFrom} * 1048576`
    await tx.rows(
      sql`insert into product_ranks (rank, product_id) values (coalesce((select max(rank) + 1 from product_ranks where rank between ${first} and ${first} + 1048575), ${first}), ${productId})`,
    )
    const prefix = shopPrefix(shopId)
    const text = wordsAndTags(product)
      .map((word) => prefix + word)
      .join(' ')
    await tx.rows(sql`insert into product_words (rowid, words) select rank, ${text} from product_ranks where product_id = ${productId}`)
  },
  async remove(tx, productId) {
    await tx.rows(sql`delete from product_words where rowid = (select rank from product_ranks where product_id = ${productId})`)
    await tx.rows(sql`delete from product_ranks where product_id = ${productId}`)
  },
  async find(read, query) {
    const prefix = shopPrefix(query.shopId)
    const match = wanted(query)
      .map((word) => `"${prefix}${word}"`)
      .join(' AND ')
    const { collectionId } = query
    const inCollection = collectionId === undefined ? sql`` : await membersOf(read, collectionId)
    const rows = await read.rows<{ id: string }>(
      sql`select r.product_id as id from product_words w join product_ranks r on r.rank = w.rowid
          where w.product_words match ${match} and w.rowid < (${query.now} + 1) * 1048576 ${inCollection}
          order by w.rowid desc limit ${query.limit}`,
    )
    return rows.map(({ id }) => id)
  },
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

const postgresSearch: ProductSearch = {
  async add(tx, product) {
    const { productId, shopId, visibleFrom } = product
    await tx.rows(
      sql`insert into product_words (product_id, shop_id, visible_from, words) values (${productId}, ${shopId}, ${visibleFrom}, array_to_tsvector(string_to_array(${wordsAndTags(product).join(' ')}, ' ')))`,
    )
  },
  async remove(tx, productId) {
    await tx.rows(sql`delete from product_words where product_id = ${productId}`)
  },
  async find(read, query) {
    const match = wanted(query)
      .map((word) => `'${word}'`)
      .join(' & ')
    const { collectionId } = query
    const inCollection = sql`and exists (select 1 from collection_products c where c.collection_id = ${collectionId} and c.product_id = w.product_id)`
    const rows = await read.rows<{ id: string }>(
      sql`select w.product_id as id from product_words w
          where w.shop_id = ${query.shopId} and w.words @@ ${match}::tsquery and w.visible_from <= ${query.now} ${collectionId === undefined ? sql`` : inCollection}
          order by w.visible_from desc, w.product_id desc limit ${query.limit}`,
    )
    return rows.map(({ id }) => id)
  },
}

export const productSearch: ProductSearch = engine === 'sqlite' ? sqliteSearch : postgresSearch
