import { type SQL, sql } from 'drizzle-orm'
import { filteredMax, filterOfFound, isFiltered, type ProductSearch, productTermsOf, queryTermsOf } from '../search-words.ts'

/**
 * The newest products of a shop, which are tested one by one. A small shop has no more, and frequent words are found
 * among them. PostgreSQL estimates badly how many products have a word with a prefix.
 */
const walkedFirst = 3_000
/**
 * Of those, so many that further ones are soon met; of fewer it is faster to gather all there are, by the words' index.
 */
const manyOfWalked = 50

/**
 * A `tsvector` of whole words, with a GIN index and an index by shop and time. PostgreSQL matches prefixes itself
 * (`:*`).
 */
export const postgresSearch: ProductSearch = {
  async add(tx, product) {
    const { productId, shopId, visibleFrom } = product
    await tx.rows(
      sql`insert into product_words (product_id, shop_id, visible_from, words) values (${productId}, ${shopId}, ${visibleFrom}, array_to_tsvector(string_to_array(${productTermsOf(product).join(' ')}, ' ')))`,
    )
  },
  async renew(tx, product) {
    await tx.rows(
      sql`update product_words set words = array_to_tsvector(string_to_array(${productTermsOf(product).join(' ')}, ' ')) where product_id = ${product.productId}`,
    )
  },
  async remove(tx, productId) {
    await tx.rows(sql`delete from product_words where product_id = ${productId}`)
  },
  async find(read, query) {
    const { whole, last } = queryTermsOf(query)
    const match = [...whole.map((word) => `'${word}'`), `'${last}':*`].join(' & ')
    const { among, limit } = query
    const holds = sql`words @@ ${match}::tsquery`
    const ofShop = sql`shop_id = ${query.shopId} and visible_from <= ${query.now}`
    const newest = sql`order by f.visible_from desc, f.product_id desc limit ${limit}`
    const idsOf = async (from: SQL) => (await read.rows<{ id: string }>(sql`${from} ${newest}`)).map(({ id }) => id)
    if (among?.length === 0) return { ids: [], isComplete: true }
    if (among) {
      const ids = await idsOf(
        sql`select f.product_id as id from product_words f where f.product_id in ${[...among]} and ${ofShop} and ${holds}`,
      )
      return { ids, isComplete: true }
    }
    const meets = isFiltered(query) ? filterOfFound(query) : sql`true`
    const along = (most: number) =>
      idsOf(sql`select f.product_id as id from (select product_id, visible_from, words from product_words
        where ${ofShop} order by visible_from desc, product_id desc limit ${most}) as f where ${holds} and ${meets}`)
    const found = await along(walkedFirst)
    if (found.length >= limit) return { ids: found, isComplete: true }
    const beyond = await read.rows(
      sql`select 1 from product_words where ${ofShop} order by visible_from desc, product_id desc limit 1 offset ${walkedFirst}`,
    )
    if (beyond.length === 0) return { ids: found, isComplete: true }
    const holding = sql`select product_id, visible_from from product_words where ${ofShop} and ${holds}`
    if (!isFiltered(query)) {
      // Twice as far as it should take. Without the limit PostgreSQL would sort the whole shop.
      const further = found.length < manyOfWalked ? [] : await along(Math.ceil((2 * walkedFirst * limit) / found.length))
      if (further.length >= limit) return { ids: further, isComplete: true }
      return { ids: await idsOf(sql`with f as materialized (${holding}) select f.product_id as id from f`), isComplete: true }
    }
    // Words that few products hold lead to all of them; of words that many hold, the newest products are looked at.
    const [{ n } = { n: 0 }] = await read.rows<{ n: number | string }>(
      sql`select count(*) as n from (${holding} limit ${filteredMax + 1}) as matches`,
    )
    if (Number(n) > filteredMax) {
      const ids = await along(2 * filteredMax)
      return { ids, isComplete: ids.length >= limit }
    }
    return { ids: await idsOf(sql`with f as materialized (${holding}) select f.product_id as id from f where ${meets}`), isComplete: true }
  },
}
