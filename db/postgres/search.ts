import { sql } from 'drizzle-orm'
import { onlySuchAs, type ProductSearch, wanted, wordsAndTags } from '../search-words.ts'

/**
 * A `tsvector` of whole words, with a GIN index and an index by shop and time. How a word begins the server finds by itself, among what older programs
 * have put in as well.
 */
export const postgresSearch: ProductSearch = {
  async add(tx, product) {
    const { productId, shopId, visibleFrom } = product
    await tx.rows(
      sql`insert into product_words (product_id, shop_id, visible_from, words) values (${productId}, ${shopId}, ${visibleFrom}, array_to_tsvector(string_to_array(${wordsAndTags(product).join(' ')}, ' ')))`,
    )
  },
  async renew() {},
  async remove(tx, productId) {
    await tx.rows(sql`delete from product_words where product_id = ${productId}`)
  },
  async find(read, query) {
    const { whole, last } = wanted(query)
    const match = [...whole.map((word) => `'${word}'`), `'${last}':*`].join(' & ')
    const { collectionId } = query
    const inCollection = sql`and exists (select 1 from collection_products c where c.collection_id = ${collectionId} and c.product_id = w.product_id)`
    const rows = await read.rows<{ id: string }>(
      sql`select w.product_id as id from product_words w
          where w.shop_id = ${query.shopId} and w.words @@ ${match}::tsquery and w.visible_from <= ${query.now} ${collectionId === undefined ? sql`` : inCollection} ${onlySuchAs(query, sql`w.product_id`)}
          order by w.visible_from desc, w.product_id desc limit ${query.limit}`,
    )
    return { ids: rows.map(({ id }) => id), isWhole: true }
  },
}
