import { sql } from 'drizzle-orm'
import type { IndexedWords, OrderSearch, RecordSearch, WordQuery } from '../admin-search.ts'
import { int, table, text } from '../columns.ts'
import type { Reader, Writer } from '../engine.ts'
import { prepare } from '../prepared.ts'

/**
 * Contentless FTS5 tables. The rowid of an order is the shop's serial times 2^32 plus the order number, so FTS5 returns
 * a shop's orders newest first without sorting. Every term starts with the serial, so a search costs what the shop
 * holds. Prefixes are terms too (`1_ha`), beside whole words (`1__haddad`), because FTS5 gathers all rows of a
 * prefix query first.
 */
const orderWords = table('order_words', { rowid: int('rowid'), words: text('words') })
const shopSerials = table('search_shops', { serial: int('serial'), shopId: text('shop_id') })

const param = (name: string) => sql.placeholder(name)
const serialOf = prepare((queries) =>
  queries
    .select({ serial: shopSerials.serial })
    .from(shopSerials)
    .where(sql`${shopSerials.shopId} = ${param('shopId')}`)
    .limit(1),
)
const addShop = prepare((queries) =>
  queries
    .insert(shopSerials)
    .values({ serial: sql`(select coalesce(max(serial), 0) + 1 from search_shops)`, shopId: param('shopId') as never }),
)
/** The rowid of an order whose row exists. */
const orderRow = sql`(select number from orders where id = ${param('id')}) + ${param('serial')} * 4294967296`
/** Terms of the order number. */
const numberTerms = sql`(select ' ' || ${param('name')} || '_' || number || ' ' || ${param('name')} || '__' || number from orders where id = ${param('id')})`
const insertOrder = prepare((queries) =>
  queries.insert(orderWords).values({ rowid: orderRow, words: sql`${param('text')} || ${numberTerms}` }),
)
const removeOrder = prepare((queries) => queries.delete(orderWords).where(sql`rowid = ${orderRow}`))

async function serialFor(tx: Writer, shopId: string): Promise<number> {
  const shopRow = await tx.first(serialOf, { shopId })
  if (shopRow?.serial != null) return shopRow.serial
  await tx.run(addShop, { shopId })
  return serialFor(tx, shopId)
}

const prefixTerm = (serial: number, word: string) => `${serial.toString(36)}_${word}`
const wholeTerm = (serial: number, word: string) => `${serial.toString(36)}__${word}`

function textOf(serial: number, wording: IndexedWords): string {
  const terms = new Set<string>()
  for (const word of wording.words) {
    let letters = ''
    for (const letter of word) {
      letters += letter
      terms.add(prefixTerm(serial, letters))
    }
    terms.add(wholeTerm(serial, word))
  }
  for (const word of wording.whole) {
    terms.add(prefixTerm(serial, word))
    terms.add(wholeTerm(serial, word))
  }
  return [...terms].join(' ')
}

/** Quoted, so that terms contain no syntax. */
const matchOf = (serial: number, { words, whole: wholes }: Omit<WordQuery, 'limit'>): string =>
  [
    ...wholes.map((word) => wholeTerm(serial, word)),
    ...words.map((word, at) => (at === words.length - 1 ? prefixTerm(serial, word) : wholeTerm(serial, word))),
  ]
    .map((term) => `"${term}"`)
    .join(' AND ')

async function knownSerial(read: Reader, shopId: string): Promise<number | undefined> {
  return (await read.first(serialOf, { shopId }))?.serial ?? undefined
}

/** Pages per purge write: about 8 ms. */
const pagesAtOnce = 40

/**
 * FTS5 marks removed terms, and drops them when segments are merged. A negative number starts a merge of all segments.
 */
async function purge(tx: Writer, name: string, isFirst: boolean): Promise<boolean> {
  const changes = async () => Number((await tx.rows<{ n: number }>(sql`select total_changes() as n`))[0]?.n)
  const before = await changes()
  await tx.rows(sql.raw(`insert into ${name}(${name}, rank) values ('merge', ${isFirst ? -pagesAtOnce : pagesAtOnce})`))
  // According to FTS5, fewer than two changes mean that nothing was left.
  return (await changes()) - before >= 2
}

export const sqliteOrderSearch: OrderSearch = {
  purge: (tx, isFirst) => purge(tx, 'order_words', isFirst),
  async add(tx, { id, shopId }, words) {
    const serial = await serialFor(tx, shopId)
    await tx.run(insertOrder, { id, serial, name: serial.toString(36), text: textOf(serial, { words, whole: [] }) })
  },
  async replace(tx, { id, shopId }, words) {
    const serial = await serialFor(tx, shopId)
    await tx.run(removeOrder, { id, serial })
    await tx.run(insertOrder, { id, serial, name: serial.toString(36), text: textOf(serial, { words, whole: [] }) })
  },
  async find(read, { first, last, limit, ...query }) {
    const serial = await knownSerial(read, query.shopId)
    if (serial === undefined) return []
    const base = serial * 4_294_967_296
    const rows = await read.rows<{ number: number }>(
      sql`select rowid - ${base} as number from order_words where order_words match ${matchOf(serial, query)}
          and rowid between ${base + first} and ${base + last} order by rowid desc limit ${limit}`,
    )
    return rows.map(({ number }) => number)
  },
}

/**
 * Creates the search of a table's records. The rowid is a rank: creation time in milliseconds times 2^20 plus a
 * counter. Ranks exceed 2^53, so they stay in SQL.
 * @param name of the tables
 */
export function sqliteRecordSearch(name: 'managed' | 'customer'): RecordSearch {
  const words = table(`${name}_words`, { rowid: int('rowid'), words: text('words') })
  const ranks = table(`${name}_ranks`, { rank: int('rank'), id: text('id') })
  const row = sql`(select rank from ${ranks} where id = ${param('id')})`
  const first = sql`${param('createdAt')} * 1048576`
  const rank = prepare((queries) =>
    queries
      .insert(ranks)
      .values({
        rank: sql`coalesce((select max(rank) + 1 from ${ranks} where rank between ${first} and ${first} + 1048575), ${first})`,
        id: param('id') as never,
      })
      .onConflictDoNothing(),
  )
  const insert = prepare((queries) => queries.insert(words).values({ rowid: row, words: param('text') as never }))
  const remove = prepare((queries) => queries.delete(words).where(sql`rowid = ${row}`))
  return {
    purge: (tx, isFirst) => purge(tx, `${name}_words`, isFirst),
    async put(tx, { id, shopId, createdAt }, wording) {
      const serial = await serialFor(tx, shopId)
      await tx.run(rank, { id, createdAt })
      await tx.run(remove, { id })
      await tx.run(insert, { id, text: textOf(serial, wording) })
    },
    async remove(tx, id) {
      await tx.run(remove, { id })
      await tx.rows(sql`delete from ${ranks} where id = ${id}`)
    },
    async find(read, query) {
      const serial = await knownSerial(read, query.shopId)
      if (serial === undefined) return []
      const rows = await read.rows<{ id: string }>(
        sql`select r.id as id from ${words} join ${ranks} r on r.rank = ${words}.rowid
            where ${words} match ${matchOf(serial, query)} order by ${words}.rowid desc limit ${query.limit}`,
      )
      return rows.map(({ id }) => id)
    },
  }
}
