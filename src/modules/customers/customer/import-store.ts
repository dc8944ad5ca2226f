import { and, eq, inArray } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { lockedRowsIn } from '../../../../db/prepared.ts'
import { customers } from '../../../../db/schema/people.ts'
import { addresses } from '../../../../db/schema/selling.ts'
import type { Customer, KnownAddress } from './domain.ts'

const byId = lockedRowsIn(customers, 'id')

/** What an import of customers reads and writes, some of them at a time. */
export const importStore = {
  /** Those of a shop with one of these e-mail addresses. */
  async withEmails(from: Pick<Reader, 'select'>, shopId: string, emails: readonly string[]): Promise<Pick<Customer, 'id' | 'email'>[]> {
    return from
      .select({ id: customers.id, email: customers.email })
      .from(customers)
      .where(and(eq(customers.shopId, shopId), inArray(customers.email, [...emails])))
  },
  /** As they stand in a write that has them to itself from then on. */
  lock: (tx: Writer, ids: readonly string[]): Promise<Customer[]> => byId(tx, ids),
  async bookOf(tx: Writer, customerId: string): Promise<KnownAddress[]> {
    return tx.select().from(addresses).where(eq(addresses.customerId, customerId))
  },
}
