import { and, asc, desc, eq, sql } from 'drizzle-orm'
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

/** A shop's customers, newest first. Each condition goes along an index. */
export function listCustomersOf(from: Pick<Reader, 'select'>, { shopId, email, q }: CustomerQuery & { shopId: string }, slice: Slice) {
  const conditions = [eq(customers.shopId, shopId)]
  if (email !== undefined) conditions.push(eq(customers.email, email))
  if (q !== undefined) {
    const begins = lower(q)
    conditions.push(
      sql`${customers.id} in (select id from customers where shop_id = ${shopId} and email >= ${begins} and email < ${behind(begins)}
          union select id from customers where shop_id = ${shopId} and lower(name) >= ${begins} and lower(name) < ${behind(begins)}
          union select id from customers where shop_id = ${shopId} and id = ${q})`,
    )
  }
  return selectSlice(from, customers, { where: and(...conditions), order: [desc(customers.id)], ...slice })
}
