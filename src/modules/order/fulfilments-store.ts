import { and, asc, eq } from 'drizzle-orm'
import type { Reader, Writer } from '../../../db/engine.ts'
import { rowsOf } from '../../../db/prepared.ts'
import { fulfilments, orderNotes } from '../../../db/schema/fulfilments.ts'
import type { Fulfilment, OrderNote } from './domain.ts'

export const parcelsOf = rowsOf(fulfilments, ['orderId'], asc(fulfilments.id))
export const notesOf = rowsOf(orderNotes, ['orderId'], asc(orderNotes.id))

/**
 * The parcels and notes of orders, for writes that have the order's row.
 * @param changed called inside every write that changes what an order shows
 */
export function createFulfilmentStore(changed: (tx: Writer, orderId: string) => void) {
  return {
    /** Oldest first. */
    of: async (from: Pick<Reader, 'all'>, orderId: string): Promise<Fulfilment[]> => from.all(parcelsOf, { orderId }),
    async insert(tx: Writer, fulfilment: Fulfilment): Promise<void> {
      await tx.insert(fulfilments).values(fulfilment)
      changed(tx, fulfilment.orderId)
    },
    /** The parcel after its correction; undefined when it is not of the version any more that it had before. */
    async change(
      tx: Writer,
      { id, version }: Pick<Fulfilment, 'id' | 'version'>,
      change: Pick<Fulfilment, 'trackingNumber' | 'carrier' | 'updatedAt'>,
    ): Promise<Fulfilment | undefined> {
      const [row] = await tx
        .update(fulfilments)
        .set({ ...change, version: version + 1 })
        .where(and(eq(fulfilments.id, id), eq(fulfilments.version, version)))
        .returning()
      if (row) changed(tx, row.orderId)
      return row
    },
    /** Oldest first. */
    notes: async (from: Pick<Reader, 'all'>, orderId: string): Promise<OrderNote[]> => from.all(notesOf, { orderId }),
    async insertNote(tx: Writer, note: OrderNote): Promise<void> {
      await tx.insert(orderNotes).values(note)
      changed(tx, note.orderId)
    },
  }
}
