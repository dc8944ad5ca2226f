import { type SQL, sql } from 'drizzle-orm'
import { onlySuchAs, type ProductSearch, wanted, wordsAndTags } from '../search-words.ts'

/**
 * The newest of the shop's products, which are looked at one by one: a small shop has no more, and what many have is among them already. How many have
 * a word that begins so the server guesses badly.
 */
const walkedFirst = 3_000
/** Of those, so many that further ones are soon met; of fewer it is faster to gather all there are, by the words' index. */
const manyOfWalked = 50

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
    const { collectionId, limit } = query
    const inCollection = sql`and exists (select 1 from collection_products c where c.collection_id = ${collectionId} and c.product_id = w.product_id)`
    const isSo = sql`w.words @@ ${match}::tsquery ${collectionId === undefined ? sql`` : inCollection} ${onlySuchAs(query, sql`w.product_id`)}`
    const ofShop = sql`shop_id = ${query.shopId} and visible_from <= ${query.now}`
    const newest = sql`order by w.visible_from desc, w.product_id desc limit ${limit}`
    const idsOf = async (from: SQL) => (await read.rows<{ id: string }>(sql`${from} ${newest}`)).map(({ id }) => id)
    const along = (most: number) =>
      idsOf(sql`select w.product_id as id from (select product_id, visible_from, words from product_words
        where ${ofShop} order by visible_from desc, product_id desc limit ${most}) as w where ${isSo}`)

    const found = await along(walkedFirst)
    if (found.length >= limit) return { ids: found, isWhole: true }
    const beyond = await read.rows(
      sql`select 1 from product_words where ${ofShop} order by visible_from desc, product_id desc limit 1 offset ${walkedFirst}`,
    )
    if (beyond.length === 0) return { ids: found, isWhole: true }
    const gathered = sql`with found as materialized (select product_id, visible_from from product_words w where ${ofShop} and ${isSo})
      select w.product_id as id from found w`
    // Twice as far as it should take; were it told no end, the server would sort the whole shop.
    const further = found.length < manyOfWalked ? [] : await along(Math.ceil((2 * walkedFirst * limit) / found.length))
    return { ids: further.length >= limit ? further : await idsOf(gathered), isWhole: true }
  },
}
