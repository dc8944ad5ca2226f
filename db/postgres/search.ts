import { type SQL, sql } from 'drizzle-orm'
import { filteredMax, filterOfFound, isFiltered, type ProductSearch, productTermsOf, queryTermsOf } from '../search-words.ts'

/**
 * Number of a shop's newest products that are tested one by one. Small shops have no more, and frequent words are found
 * among them. PostgreSQL estimates badly how many products match a prefix.
 */
const walkLength = 3_000
/** From this number of matches among them, walking further is fast. With fewer, the words' index is faster. */
const manyMatches = 50

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
    const matchesTerms = sql`words @@ ${match}::tsquery`
    const ofShop = sql`shop_id = ${query.shopId} and visible_from <= ${query.now}`
    const newest = sql`order by f.visible_from desc, f.product_id desc limit ${limit}`
    const idsOf = async (from: SQL) => (await read.rows<{ id: string }>(sql`${from} ${newest}`)).map(({ id }) => id)
    if (among?.length === 0) return { ids: [], isComplete: true }
    if (among) {
      const ids = await idsOf(
        sql`select f.product_id as id from product_words f where f.product_id in ${[...among]} and ${ofShop} and ${matchesTerms}`,
      )
      return { ids, isComplete: true }
    }
    const meetsFilter = isFiltered(query) ? filterOfFound(query) : sql`true`
    const walkNewest = (most: number) =>
      idsOf(sql`select f.product_id as id from (select product_id, visible_from, words from product_words
        where ${ofShop} order by visible_from desc, product_id desc limit ${most}) as f where ${matchesTerms} and ${meetsFilter}`)
    const found = await walkNewest(walkLength)
    if (found.length >= limit) return { ids: found, isComplete: true }
    const olderProducts = await read.rows(
      sql`select 1 from product_words where ${ofShop} order by visible_from desc, product_id desc limit 1 offset ${walkLength}`,
    )
    if (olderProducts.length === 0) return { ids: found, isComplete: true }
    const allMatches = sql`select product_id, visible_from from product_words where ${ofShop} and ${matchesTerms}`
    if (!isFiltered(query)) {
      // Walks twice as far as expected. Without the limit PostgreSQL would sort the whole shop.
      const walkedFurther = found.length < manyMatches ? [] : await walkNewest(Math.ceil((2 * walkLength * limit) / found.length))
      if (walkedFurther.length >= limit) return { ids: walkedFurther, isComplete: true }
      return { ids: await idsOf(sql`with f as materialized (${allMatches}) select f.product_id as id from f`), isComplete: true }
    }
    // Rare words are looked up in the index, frequent ones among the newest products.
    const [{ n } = { n: 0 }] = await read.rows<{ n: number | string }>(
      sql`select count(*) as n from (${allMatches} limit ${filteredMax + 1}) as matches`,
    )
    if (Number(n) > filteredMax) {
      const ids = await walkNewest(2 * filteredMax)
      return { ids, isComplete: ids.length >= limit }
    }
    return {
      ids: await idsOf(sql`with f as materialized (${allMatches}) select f.product_id as id from f where ${meetsFilter}`),
      isComplete: true,
    }
  },
}
