import { and, eq, inArray } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { lockedRowsIn } from '../../../../db/prepared.ts'
import { customers } from '../../../../db/schema/people.ts'
import { addresses } from '../../../../db/schema/selling.ts'
import type { Customer, OwnedAddress } from './domain.ts'

const byId = lockedRowsIn(customers, 'id')

/** Reads and writes batches of an import of customers. */
export const importStore = {
  /** Returns the shop's customers with these e-mail addresses. */
  async withEmails(from: Pick<Reader, 'select'>, shopId: string, emails: readonly string[]): Promise<Pick<Customer, 'id' | 'email'>[]> {
    return from
      .select({ id: customers.id, email: customers.email })
      .from(customers)
      .where(and(eq(customers.shopId, shopId), inArray(customers.email, [...emails])))
  },
  /** Locks customers until the end of the write. */
  lock: (tx: Writer, ids: readonly string[]): Promise<Customer[]> => byId(tx, ids),
  async bookOf(tx: Writer, customerId: string): Promise<OwnedAddress[]> {
    return tx.select().from(addresses).where(eq(addresses.customerId, customerId))
  },
}
