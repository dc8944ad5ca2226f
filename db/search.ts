/** Full-text search, the one thing that no builder can say alike for both engines. Words come normalised from `lib/words.ts`. */
import { sql } from 'drizzle-orm'
import { engine } from './columns.ts'
import type { Reader, Writer } from './engine.ts'

export type SearchableProduct = { productId: string; shopId: string; visibleFrom: number; words: readonly string[] }
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
  offset: number
}

export interface ProductSearch {
  /** Makes the product findable; it must not be indexed yet. */
  add(tx: Writer, product: SearchableProduct): Promise<void>
  /** Forgets the product, if it was indexed. */
  remove(tx: Writer, productId: string): Promise<void>
  /** Ids of the products that hold every word, newest first. */
  find(read: Reader, query: SearchQuery): Promise<string[]>
}

const only = ({ tag, collectionId }: SearchQuery, productId: string) => {
  const column = sql.raw(productId)
  const tagged = sql`and exists (select 1 from product_tags t where t.product_id = ${column} and t.tag = ${tag})`
  const collected = sql`and exists (select 1 from collection_products c where c.collection_id = ${collectionId} and c.product_id = ${column})`
  return sql`${tag === undefined ? sql`` : tagged} ${collectionId === undefined ? sql`` : collected}`
}

/**
 * FTS5. Every word carries the shop's id in front, so that a search costs what the shop holds and not what the
 * instance holds. FTS5 walks its rowids in order, which makes newest-first cheap for the commonest word.
 */
const sqliteSearch: ProductSearch = {
  async add(tx, { productId, shopId, visibleFrom, words }) {
    const first = sql`${visibleFrom} * 1048576`
    await tx.rows(
      sql`insert into product_ranks (rank, product_id) values (coalesce((select max(rank) + 1 from product_ranks where rank between ${first} and ${first} + 1048575), ${first}), ${productId})`,
    )
    const prefix = shopPrefix(shopId)
    const text = words.map((word) => prefix + word).join(' ')
    await tx.rows(sql`insert into product_words (rowid, words) select rank, ${text} from product_ranks where product_id = ${productId}`)
  },
  async remove(tx, productId) {
    await tx.rows(sql`delete from product_words where rowid = (select rank from product_ranks where product_id = ${productId})`)
    await tx.rows(sql`delete from product_ranks where product_id = ${productId}`)
  },
  async find(read, query) {
    const prefix = shopPrefix(query.shopId)
    const match = query.words.map((word) => `"${prefix}${word}"`).join(' AND ')
    const rows = await read.rows<{ id: string }>(
      sql`select r.product_id as id from product_words w join product_ranks r on r.rank = w.rowid
          where w.product_words match ${match} and w.rowid < (${query.now} + 1) * 1048576 ${only(query, 'r.product_id')}
          order by w.rowid desc limit ${query.limit} offset ${query.offset}`,
    )
    return rows.map(({ id }) => id)
  },
}

/** The random end of the id: letters and digits, of one length, so that no word runs into it. */
const shopPrefix = (shopId: string) => shopId.slice(shopId.indexOf('_') + 1)

const postgresSearch: ProductSearch = {
  async add(tx, { productId, shopId, visibleFrom, words }) {
    await tx.rows(
      sql`insert into product_words (product_id, shop_id, visible_from, words) values (${productId}, ${shopId}, ${visibleFrom}, array_to_tsvector(string_to_array(${words.join(' ')}, ' ')))`,
    )
  },
  async remove(tx, productId) {
    await tx.rows(sql`delete from product_words where product_id = ${productId}`)
  },
  async find(read, query) {
    const match = query.words.map((word) => `'${word}'`).join(' & ')
    const rows = await read.rows<{ id: string }>(
      sql`select w.product_id as id from product_words w
          where w.shop_id = ${query.shopId} and w.words @@ ${match}::tsquery and w.visible_from <= ${query.now} ${only(query, 'w.product_id')}
          order by w.visible_from desc, w.product_id desc limit ${query.limit} offset ${query.offset}`,
    )
    return rows.map(({ id }) => id)
  },
}

export const productSearch: ProductSearch = engine === 'sqlite' ? sqliteSearch : postgresSearch
