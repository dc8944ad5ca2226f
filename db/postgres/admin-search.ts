import { sql } from 'drizzle-orm'
import type { IndexedWords, OrderSearch, RecordSearch, WordQuery } from '../admin-search.ts'
import { int, table, text } from '../columns.ts'
import { prepare } from '../prepared.ts'

/**
 * A `tsvector` with a GIN index, and an index by the order in which the shop's rows are listed: the server takes what
 * is rare from the one and walks along the other for what many hold. Every word begins with a name of the shop, so that
 * a search costs what the shop holds.
 */
const orderWords = table('order_words', { shopId: text('shop_id'), number: int('number'), words: text('words') })

const placed = (name: string) => sql.placeholder(name)
const vector = sql`array_to_tsvector(string_to_array(${placed('text')}::text, ' '))`
const orderValues = {
  shopId: placed('shopId') as never,
  number: sql`(select number from orders where id = ${placed('id')})`,
  words: sql`array_to_tsvector(string_to_array(${placed('name')}::text || '__' || (select number from orders where id = ${placed('id')}) || ${placed('text')}::text, ' '))`,
}
const addOrder = prepare((queries) => queries.insert(orderWords).values(orderValues), 'behind')
const replaceOrder = prepare((queries) =>
  queries
    .insert(orderWords)
    .values(orderValues)
    .onConflictDoUpdate({ target: [orderWords.shopId, orderWords.number], set: { words: sql`excluded.words` } }),
)
/** Two shops may have the same: rows are asked for by their shop besides. */
const nameOf = (shopId: string): string => Bun.hash.xxHash32(shopId).toString(36)
const termOf = (shopId: string, word: string): string => `${nameOf(shopId)}_${word}`
/** What is found whole alone lies behind a sign that no word has. */
const wholeTermOf = (shopId: string, word: string): string => `${nameOf(shopId)}__${word}`

const termsOf = (shopId: string, { words, whole }: IndexedWords): string[] => [
  ...new Set([...words.map((word) => termOf(shopId, word)), ...whole.map((word) => wholeTermOf(shopId, word))]),
]
/** Behind its number, which the server puts in front. */
const orderText = (shopId: string, words: readonly string[]): string =>
  termsOf(shopId, { words, whole: [] })
    .map((term) => ` ${term}`)
    .join('')

/** Quoted, so that nothing of a word is syntax. */
const matchOf = ({ shopId, words, whole }: Omit<WordQuery, 'limit'>): string =>
  [
    ...whole.map((word) => `'${wholeTermOf(shopId, word)}'`),
    ...words.map((word, at) => `('${termOf(shopId, word)}'${at === words.length - 1 ? ':*' : ''} | '${wholeTermOf(shopId, word)}')`),
  ].join(' & ')

/** The server's vacuum does that. */
const purge = async (): Promise<boolean> => false

export const postgresOrderSearch: OrderSearch = {
  purge,
  async add(tx, { id, shopId }, words) {
    await tx.run(addOrder, { id, shopId, name: nameOf(shopId), text: orderText(shopId, words) })
  },
  async replace(tx, { id, shopId }, words) {
    await tx.run(replaceOrder, { id, shopId, name: nameOf(shopId), text: orderText(shopId, words) })
  },
  async find(read, { first, last, limit, ...query }) {
    const rows = await read.rows<{ number: number }>(
      sql`select number from order_words where shop_id = ${query.shopId} and words @@ ${matchOf(query)}::tsquery
          and number between ${first} and ${last} order by number desc limit ${limit}`,
    )
    return rows.map(({ number }) => number)
  },
}

/** @param name of the table */
export function postgresRecordSearch(name: 'managed_words' | 'customer_words'): RecordSearch {
  const words = table(name, { id: text('id'), shopId: text('shop_id'), words: text('words') })
  const put = prepare((queries) =>
    queries
      .insert(words)
      .values({ id: placed('id') as never, shopId: placed('shopId') as never, words: vector })
      .onConflictDoUpdate({ target: words.id, set: { words: sql`excluded.words` } }),
  )
  return {
    purge,
    async put(tx, { id, shopId }, wording) {
      await tx.run(put, { id, shopId, text: termsOf(shopId, wording).join(' ') })
    },
    async find(read, query) {
      const rows = await read.rows<{ id: string }>(
        sql`select id from ${words} where shop_id = ${query.shopId} and words @@ ${matchOf(query)}::tsquery order by id desc limit ${query.limit}`,
      )
      return rows.map(({ id }) => id)
    },
  }
}
