import { sql } from 'drizzle-orm'
import type { Reader } from '../engine.ts'
import { onlySuchAs, type ProductSearch, wanted, wordsAndTags } from '../search-words.ts'

/**
 * FTS5. Every word carries the shop's id in front, so that a search costs what the shop holds and not what the
 * instance holds. FTS5 walks its rowids in order, which makes newest-first cheap for the commonest word.
 */
export const sqliteSearch: ProductSearch = {
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
          where w.product_words match ${match} and w.rowid < (${query.now} + 1) * 1048576 ${inCollection} ${onlySuchAs(query, sql`r.product_id`)}
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
