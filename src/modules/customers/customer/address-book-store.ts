import { and, asc, eq } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { lockedRowsOf } from '../../../../db/prepared.ts'
import { addresses } from '../../../../db/schema/selling.ts'
import type { PageSlice } from '../../../lib/page.ts'
import type { OwnedAddress } from './domain.ts'

const lockAddress = lockedRowsOf(addresses, ['id', 'customerId'])

/** Queries of a customer's own address book. */
export const addressBookStore = {
  /** Oldest first. */
  list: (from: Pick<Reader, 'select'>, customerId: string, slice: PageSlice) =>
    selectSlice(from, addresses, { where: eq(addresses.customerId, customerId), order: [asc(addresses.id)], ...slice }),
  /** Locks an address of the book. */
  lock: async (tx: Writer, customerId: string, id: string): Promise<OwnedAddress | undefined> => tx.first(lockAddress, { id, customerId }),
  async replace(tx: Writer, { id, address, isDefaultShipping, isDefaultBilling, updatedAt }: OwnedAddress): Promise<void> {
    await tx.update(addresses).set({ address, isDefaultShipping, isDefaultBilling, updatedAt }).where(eq(addresses.id, id))
  },
  async remove(tx: Writer, customerId: string, id: string): Promise<OwnedAddress | undefined> {
    const [removed] = await tx
      .delete(addresses)
      .where(and(eq(addresses.id, id), eq(addresses.customerId, customerId)))
      .returning()
    return removed
  },
}
