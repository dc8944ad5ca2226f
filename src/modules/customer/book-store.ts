import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../db/engine.ts'
import { lockedRowsOf } from '../../../db/prepared.ts'
import { customers } from '../../../db/schema/people.ts'
import { addresses } from '../../../db/schema/selling.ts'
import { selectSlice } from '../../../db/slice.ts'
import type { Slice } from '../../lib/page.ts'
import type { CustomerQuery, KnownAddress } from './domain.ts'

const locked = lockedRowsOf(addresses, ['id', 'customerId'])

/** A customer's own address book. */
export const bookStore = {
  /** Oldest first. */
  list: (from: Pick<Reader, 'select'>, customerId: string, slice: Slice) =>
    selectSlice(from, addresses, { where: eq(addresses.customerId, customerId), order: [asc(addresses.id)], ...slice }),
  /** One of the book, in a write that has it to itself from then on. */
  async lock(tx: Writer, customerId: string, id: string): Promise<KnownAddress | undefined> {
    return tx.first(locked, { id, customerId })
  },
  async replace(tx: Writer, { id, address, isDefaultShipping, isDefaultBilling, updatedAt }: KnownAddress): Promise<void> {
    await tx.update(addresses).set({ address, isDefaultShipping, isDefaultBilling, updatedAt }).where(eq(addresses.id, id))
  },
  async remove(tx: Writer, customerId: string, id: string): Promise<KnownAddress | undefined> {
    const [removed] = await tx
      .delete(addresses)
      .where(and(eq(addresses.id, id), eq(addresses.customerId, customerId)))
      .returning()
    return removed
  },
}

/** Behind every text that begins like this one, by bytes, as both engines sort. */
const behind = (beginning: string): string => `${beginning}\u{10ffff}`
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** The ids of a shop's customers whose e-mail address or name begins so, or who have this id: along an index each. */
const found = (shopId: string, q: string): SQL => {
  const [from, until] = [lower(q), behind(lower(q))]
  return sql`select id from customers where shop_id = ${shopId} and email >= ${from} and email < ${until}
             union select id from customers where shop_id = ${shopId} and lower(name) >= ${from} and lower(name) < ${until}
             union select id from customers where shop_id = ${shopId} and id = ${q}`
}

type Listed = { rows: (typeof customers.$inferSelect)[]; total: number }

/** A shop's customers, newest first. */
export async function listCustomersOf(
  read: Pick<Reader, 'select' | 'rows'>,
  { shopId, email, q }: CustomerQuery & { shopId: string },
  slice: Slice,
): Promise<Listed> {
  const order = [desc(customers.id)]
  const own = eq(customers.shopId, shopId)
  if (email !== undefined) {
    const among = q === undefined ? undefined : sql`${customers.id} in (${found(shopId, q)})`
    return selectSlice(read, customers, { where: and(own, eq(customers.email, email), among), order, ...slice })
  }
  if (q === undefined) return selectSlice(read, customers, { where: own, order, ...slice })
  const { after } = slice
  const isWhole = after !== undefined
  const [counted] = isWhole ? [] : await read.rows<{ n: number | string }>(sql`select count(*) as n from (${found(shopId, q)}) as found`)
  const beyond = typeof after === 'string' ? sql`where id < ${after}` : sql``
  // Of many that are found, those of the page alone are read.
  const ids = sql`select id from (${found(shopId, q)}) as found ${beyond} order by id desc limit ${slice.limit} offset ${slice.offset}`
  const rows = await read
    .select()
    .from(customers)
    .where(sql`${customers.id} in (${ids})`)
    .orderBy(...order)
  return { rows, total: Number(counted?.n ?? 0) }
}
