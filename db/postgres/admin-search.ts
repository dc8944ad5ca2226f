import { sql } from 'drizzle-orm'
import type { IndexedWords, OrderSearch, RecordSearch, WordQuery } from '../admin-search.ts'
import { int, table, text } from '../columns.ts'
import { prepare } from '../prepared.ts'

/**
 * `tsvector` columns with a GIN index, and an index in the list order of a shop's rows. PostgreSQL uses the first for
 * rare terms and walks the second for frequent ones. Terms start with a hash of the shop's id, so that a search reads
 * only its shop's terms.
 */
const orderWords = table('order_words', { shopId: text('shop_id'), number: int('number'), words: text('words') })

const placeholder = (name: string) => sql.placeholder(name)
const vector = sql`array_to_tsvector(string_to_array(${placeholder('text')}::text, ' '))`
const orderValues = {
  shopId: placeholder('shopId') as never,
  number: sql`(select number from orders where id = ${placeholder('id')})`,
  words: sql`array_to_tsvector(string_to_array(${placeholder('name')}::text || '__' || (select number from orders where id = ${placeholder('id')}) || ${placeholder('text')}::text, ' '))`,
}
const addOrder = prepare((queries) => queries.insert(orderWords).values(orderValues), 'behind')
const replaceOrder = prepare((queries) =>
  queries
    .insert(orderWords)
    .values(orderValues)
    .onConflictDoUpdate({ target: [orderWords.shopId, orderWords.number], set: { words: sql`excluded.words` } }),
)
/** Returns a hash of the shop's id. Two shops may have the same one, so queries also filter by shop. */
const shopHashOf = (shopId: string): string => Bun.hash.xxHash32(shopId).toString(36)
const termOf = (shopId: string, word: string): string => `${shopHashOf(shopId)}_${word}`
/** Returns the term of a word that matches as a whole only. The second underscore keeps it out of prefix matches. */
const wholeTermOf = (shopId: string, word: string): string => `${shopHashOf(shopId)}__${word}`

const termsOf = (shopId: string, { words, whole }: IndexedWords): string[] => [
  ...new Set([...words.map((word) => termOf(shopId, word)), ...whole.map((word) => wholeTermOf(shopId, word))]),
]
/** Returns the terms that follow the order number, which the statement inserts. */
const orderText = (shopId: string, words: readonly string[]): string =>
  termsOf(shopId, { words, whole: [] })
    .map((term) => ` ${term}`)
    .join('')

/** Builds a tsquery. Terms are quoted, so that they cannot contain operators. */
const matchOf = ({ shopId, words, whole }: Omit<WordQuery, 'limit'>): string =>
  [
    ...whole.map((word) => `'${wholeTermOf(shopId, word)}'`),
    ...words.map((word, at) => `('${termOf(shopId, word)}'${at === words.length - 1 ? ':*' : ''} | '${wholeTermOf(shopId, word)}')`),
  ].join(' & ')

/** Does nothing: vacuum deletes old terms. */
const purge = async (): Promise<boolean> => false

export const postgresOrderSearch: OrderSearch = {
  purge,
  async add(tx, { id, shopId }, words) {
    await tx.run(addOrder, { id, shopId, name: shopHashOf(shopId), text: orderText(shopId, words) })
  },
  async replace(tx, { id, shopId }, words) {
    await tx.run(replaceOrder, { id, shopId, name: shopHashOf(shopId), text: orderText(shopId, words) })
  },
  async find(read, { first, last, limit, ...query }) {
    const rows = await read.rows<{ number: number }>(
      sql`select number from order_words where shop_id = ${query.shopId} and words @@ ${matchOf(query)}::tsquery
          and number between ${first} and ${last} order by number desc limit ${limit}`,
    )
    return rows.map(({ number }) => number)
  },
}

/**
 * Creates the search of a table's records.
 * @param name of the table
 */
export function postgresRecordSearch(name: 'managed_words' | 'customer_words'): RecordSearch {
  const words = table(name, { id: text('id'), shopId: text('shop_id'), words: text('words') })
  const put = prepare((queries) =>
    queries
      .insert(words)
      .values({ id: placeholder('id') as never, shopId: placeholder('shopId') as never, words: vector })
      .onConflictDoUpdate({ target: words.id, set: { words: sql`excluded.words` } }),
  )
  return {
    purge,
    async put(tx, { id, shopId }, wording) {
      await tx.run(put, { id, shopId, text: termsOf(shopId, wording).join(' ') })
    },
    async remove(tx, id) {
      await tx.rows(sql`delete from ${words} where id = ${id}`)
    },
    async find(read, query) {
      const rows = await read.rows<{ id: string }>(
        sql`select id from ${words} where shop_id = ${query.shopId} and words @@ ${matchOf(query)}::tsquery order by id desc limit ${query.limit}`,
      )
      return rows.map(({ id }) => id)
    },
  }
}
