import { and, desc, eq, inArray, lt, sql } from 'drizzle-orm'
import { wordFor } from '../../../../db/admin-search.ts'
import { engine } from '../../../../db/columns.ts'
import type { Database, Reader } from '../../../../db/engine.ts'
import { foldBlocks, pageOfBlocks } from '../../../../db/list-pages.ts'
import { customers } from '../../../../db/schema/people.ts'
import { customerIndexed, customerSearch } from '../../../../db/search.ts'
import { fillsOf } from '../../../../db/search-backfill.ts'
import type { Slice } from '../../../lib/page.ts'
import { holdsWords, wordsOf } from '../../../lib/search-terms.ts'
import { type Customer, type CustomerQuery, customerWords } from './domain.ts'

/** With a filter, totals are exact up to this, and nothing lies past it. */
const foundMax = 1_000
const queryWordsMax = 10

/** `isLong`: it is to be shortened, so that its late pages cost no more than its first. */
type Listed = { readonly rows: Customer[]; readonly total: number; readonly isCapped: boolean; readonly isLong?: boolean }

const fills = fillsOf('CUSTOMERS')

/** A shop's customers as its own people find them. */
export const findingStore = {
  /** A page of them, newest first. */
  async list(read: Reader, { shopId, email, q }: CustomerQuery & { shopId: string }, slice: Slice): Promise<Listed> {
    if (q === undefined && email === undefined) return unfiltered(read, shopId, slice)
    if (q?.startsWith('cus_') || q === undefined) {
      const own = and(
        eq(customers.shopId, shopId),
        q === undefined ? undefined : eq(customers.id, q),
        email === undefined ? undefined : eq(customers.email, email),
      )
      const rows = await read.select().from(customers).where(own).limit(1)
      return { rows: slice.offset > 0 ? [] : rows, total: rows.length, isCapped: false }
    }
    const words = wordsOf(q, queryWordsMax)
    const whole = email === undefined ? [] : [wordFor('email', email)]
    // Before what is indexed: what the job comes to in between is in both, and not in neither.
    const isWhole = words.length === 0 || !(await isFilling(read, shopId))
    const found = words.length === 0 ? [] : await customerSearch.find(read, { shopId, words, whole, limit: foundMax + 1 })
    const ids = found.slice(0, foundMax)
    const rows = await rowsOf(read, ids.slice(slice.offset, slice.offset + slice.limit))
    return { rows, total: ids.length, isCapped: found.length > foundMax || !isWhole }
  },

  /**
   * A piece of a list that is read whole, newest first: every customer is looked at, some at a time, and no limit keeps any of them out.
   * @returns `lookedTo`: the last that was looked at; undefined at the end
   */
  async piece(
    read: Reader,
    { shopId, email, q }: CustomerQuery & { shopId: string },
    { limit, after }: Slice,
  ): Promise<{ rows: Customer[]; lookedTo: string | undefined }> {
    const id = q?.startsWith('cus_') ? q : undefined
    const words = q === undefined || id !== undefined ? [] : wordsOf(q, queryWordsMax)
    if (q !== undefined && id === undefined && words.length === 0) return { rows: [], lookedTo: undefined }
    const rows = await read
      .select()
      .from(customers)
      .where(
        and(
          eq(customers.shopId, shopId),
          typeof after === 'string' ? lt(customers.id, after) : undefined,
          id === undefined ? undefined : eq(customers.id, id),
          email === undefined ? undefined : eq(customers.email, email),
        ),
      )
      .orderBy(desc(customers.id))
      .limit(limit)
    return { rows: rows.filter((customer) => holdsWords(words, customerWords(customer))), lookedTo: rows.at(-1)?.id }
  },

  /** Has late pages of all of a shop's customers cost no more than the first, from now on. @param before an id, see db/list-pages.ts */
  shorten: (db: Database, shopId: string, before: string): Promise<number> => foldBlocks(db, { list: 'CUSTOMERS', shopId }, before),

  ...fills,
  /** Of the ids behind one, the first that no index knows; of SQLite none, where no older version runs beside this one. */
  async unknownAfter(read: Pick<Reader, 'rows'>, after: string, limit: number): Promise<string[]> {
    if (engine === 'sqlite') return []
    const rows = await read.rows<{ id: string }>(
      sql`select c.id as id from customers c where c.id > ${after} and not exists (${customerIndexed}) order by c.id limit ${limit}`,
    )
    return rows.map(({ id }) => id)
  },
  /** The newest ids below one. */
  async idsBelow(read: Pick<Reader, 'select'>, below: string, limit: number): Promise<string[]> {
    const rows = await read
      .select({ id: customers.id })
      .from(customers)
      .where(lt(customers.id, below))
      .orderBy(desc(customers.id))
      .limit(limit)
    return rows.map(({ id }) => id)
  },
}

/** Whether a shop has customers that no index knows yet. */
async function isFilling(read: Reader, shopId: string): Promise<boolean> {
  const fill = await fills.fillOf(read)
  if (!fill) return false
  const own = and(eq(customers.shopId, shopId), lt(customers.id, fill.below))
  return (await read.select({ id: customers.id }).from(customers).where(own).limit(1)).length > 0
}

async function unfiltered(read: Reader, shopId: string, slice: Slice): Promise<Listed> {
  const { ids, total, isLong } = await pageOfBlocks(read, { list: 'CUSTOMERS', shopId }, slice)
  return { rows: await rowsOf(read, ids), total, isCapped: false, isLong }
}

/** Newest first. */
async function rowsOf(read: Reader, ids: readonly string[]): Promise<Customer[]> {
  if (ids.length === 0) return []
  return read
    .select()
    .from(customers)
    .where(inArray(customers.id, [...ids]))
    .orderBy(desc(customers.id))
}
