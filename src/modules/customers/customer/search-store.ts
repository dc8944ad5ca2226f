import { and, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm'
import { exactWordOf } from '../../../../db/admin-search.ts'
import type { Database, Reader } from '../../../../db/engine.ts'
import { extendBlocks, readListPage, totalOnly } from '../../../../db/list-pages.ts'
import { customerNameKey, customers } from '../../../../db/schema/people.ts'
import { customerTags } from '../../../../db/schema/tags.ts'
import { customerIndexed, customerSearch } from '../../../../db/search.ts'
import { searchBackfillOf } from '../../../../db/search-backfill.ts'
import { queryTermsOf } from '../../../lib/mail-address.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { matchesTerms, tagKeyOf } from '../../../lib/search-terms.ts'
import { type Customer, type CustomerQuery, type CustomerSort, customerWords, queryWordsMax } from './domain.ts'

/** With a filter, totals are exact up to this number, and pages end there. */
const filteredTotalMax = 1_000
/** A list by tag alone has an exact total up to this number, and goes on beyond it. */
const taggedTotalMax = 2_000

/** `isLong`: the list should be folded, so that late pages cost no more than the first. */
type CustomerListPage = { readonly rows: Customer[]; readonly total: number; readonly isCapped: boolean; readonly isLong?: boolean }

const fills = searchBackfillOf('CUSTOMERS', 'customers c', customerIndexed)

/** Customers as the shop's staff list and search them. */
export const customerListStore = {
  /** Returns a page. */
  async list(
    read: Reader,
    { shopId, email, q, tag }: CustomerQuery & { shopId: string },
    slice: PageSlice,
    sort: CustomerSort,
  ): Promise<CustomerListPage> {
    if (q === undefined && email === undefined)
      return tag === undefined ? listUnfiltered(read, shopId, slice, sort) : listTagged(read, shopId, tag, slice, sort)
    if (q?.startsWith('cus_') || q === undefined) {
      const where = and(
        eq(customers.shopId, shopId),
        q === undefined ? undefined : eq(customers.id, q),
        email === undefined ? undefined : eq(customers.email, email),
      )
      const rows = (await read.select().from(customers).where(where).limit(1)).filter(isTagged(tag))
      return { rows: slice.offset > 0 ? [] : rows, total: rows.length, isCapped: false }
    }
    const whole = exactWordsOf(email, tag)
    const words = await effectiveWords(read, shopId, q, whole)
    // Reads the progress before the index: a customer that the job indexes in between is then found twice, not missed.
    const isWhole = words.length === 0 || !(await hasUnindexed(read, shopId))
    const found = words.length === 0 ? [] : await customerSearch.find(read, { shopId, words, whole, limit: filteredTotalMax + 1 })
    const ids = found.slice(0, filteredTotalMax)
    const rows = await loadPage(read, ids, slice, sort)
    return { rows, total: ids.length, isCapped: found.length > filteredTotalMax || !isWhole }
  },

  /**
   * Reads the next customers of an export, newest first. Every customer is examined, so no limit hides any.
   * @returns `scannedTo`: the last id that was examined; undefined at the end
   */
  async readChunk(
    read: Reader,
    { shopId, email, q, tag }: CustomerQuery & { shopId: string },
    { limit, after }: PageSlice,
  ): Promise<{ rows: Customer[]; scannedTo: string | undefined }> {
    const id = q?.startsWith('cus_') ? q : undefined
    const words = await effectiveWords(read, shopId, id ? '' : (q ?? ''), exactWordsOf(email, tag))
    if (q !== undefined && id === undefined && words.length === 0) return { rows: [], scannedTo: undefined }
    const rows = await read
      .select()
      .from(customers)
      .where(
        and(
          eq(customers.shopId, shopId),
          typeof after === 'string' ? lt(customers.id, after) : undefined,
          tag === undefined ? undefined : sql`${customers.id} in (${taggedIds(shopId, tag, { limit, after })})`,
          id === undefined ? undefined : eq(customers.id, id),
          email === undefined ? undefined : eq(customers.email, email),
        ),
      )
      .orderBy(desc(customers.id))
      .limit(limit)
    return { rows: rows.filter((customer) => matchesTerms(words, customerWords(customer))), scannedTo: rows.at(-1)?.id }
  },

  /** Folds the list, so that late pages cost no more than the first. @param before an id, see db/list-pages.ts */
  shorten: (db: Database, shopId: string, before: string): Promise<number> => extendBlocks(db, { list: 'CUSTOMERS', shopId }, before),

  ...fills,
}

const exactWordsOf = (email: string | undefined, tag: string | undefined): string[] => [
  ...(email === undefined ? [] : [exactWordOf('email', email)]),
  ...(tag === undefined ? [] : [exactWordOf('tag', tag)]),
]

/** Returns the words of a query: those of the mail domain that it names, if customers have it, else those as typed. */
async function effectiveWords(read: Reader, shopId: string, q: string, whole: readonly string[]): Promise<readonly string[]> {
  const { words, domainWords } = queryTermsOf(q, queryWordsMax)
  const ofDomain = domainWords && (await customerSearch.find(read, { shopId, words: domainWords, whole: [...whole], limit: 1 }))
  return domainWords && ofDomain && ofDomain.length > 0 ? domainWords : words
}

/** Returns whether a shop has customers that are not indexed yet. */
async function hasUnindexed(read: Reader, shopId: string): Promise<boolean> {
  const fill = await fills.readProgress(read)
  if (!fill) return false
  const where = and(eq(customers.shopId, shopId), lt(customers.id, fill.below))
  return (await read.select({ id: customers.id }).from(customers).where(where).limit(1)).length > 0
}

const isTagged =
  (tag: string | undefined) =>
  ({ tags }: Customer): boolean =>
    tag === undefined || tags.some((one) => tagKeyOf(one) === tag)

/** The newest customers with a tag, along the index of tags. */
const taggedIds = (shopId: string, tag: string, { limit, offset = 0, after }: Partial<Omit<PageSlice, 'page'>>): SQL => sql`
  select customer_id from ${customerTags} where shop_id = ${shopId} and tag = ${tag}
    ${typeof after === 'string' ? sql`and customer_id < ${after}` : sql``}
  order by customer_id desc limit ${limit} offset ${offset}`

async function listTagged(
  read: Reader,
  shopId: string,
  tag: string,
  { limit, offset }: PageSlice,
  sort: CustomerSort,
): Promise<CustomerListPage> {
  const [counted] = await read.rows<{ n: number | string }>(
    sql`select count(*) as n from (${taggedIds(shopId, tag, { limit: taggedTotalMax + 1 })}) as first_ones`,
  )
  const n = Number(counted?.n ?? 0)
  const bounds = sort === 'name' ? { limit: taggedTotalMax } : { limit, offset }
  const found = await read.rows<{ customer_id: string }>(taggedIds(shopId, tag, bounds))
  const ids = found.map((row) => row.customer_id)
  const rows = sort === 'name' ? await loadPage(read, ids, { limit, offset }, sort) : await loadCustomers(read, ids)
  return { rows, total: Math.min(n, taggedTotalMax), isCapped: n > taggedTotalMax }
}

async function listUnfiltered(read: Reader, shopId: string, slice: PageSlice, sort: CustomerSort): Promise<CustomerListPage> {
  const isByName = sort === 'name'
  const { ids, total, isLong } = await readListPage(read, { list: 'CUSTOMERS', shopId }, isByName ? totalOnly : slice)
  const page = isByName ? await idsByName(read, eq(customers.shopId, shopId), slice) : ids
  return { rows: await loadCustomers(read, page), total, isCapped: false, isLong }
}

/** Loads a page of the customers that a filter found, which come newest first. */
async function loadPage(
  read: Reader,
  ids: readonly string[],
  { limit, offset }: Pick<PageSlice, 'limit' | 'offset'>,
  sort: CustomerSort,
): Promise<Customer[]> {
  if (sort === 'newest' || offset >= ids.length) return loadCustomers(read, ids.slice(offset, offset + limit))
  return loadCustomers(read, await idsByName(read, inArray(customers.id, [...ids]), { limit, offset }))
}

/** Returns a page of ids, sorted by name. For a whole shop the index of names is read. */
async function idsByName(read: Reader, where: SQL, { limit, offset }: Pick<PageSlice, 'limit' | 'offset'>): Promise<string[]> {
  const rows = await read.rows<{ id: string }>(
    sql`select id from customers where ${where} order by ${customerNameKey(customers)}, id limit ${limit} offset ${offset}`,
  )
  return rows.map(({ id }) => id)
}

/** Returns customers in the order of the ids. */
async function loadCustomers(read: Reader, ids: readonly string[]): Promise<Customer[]> {
  if (ids.length === 0) return []
  const rows = await read
    .select()
    .from(customers)
    .where(inArray(customers.id, [...ids]))
  const byId = new Map(rows.map((customer) => [customer.id, customer]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
