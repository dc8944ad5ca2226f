import type { Writer } from '../../../../../db/engine.ts'
import { updateOfVersion } from '../../../../../db/prepared.ts'
import { fulfilments, orderNotes } from '../../../../../db/schema/fulfilments.ts'
import type { Fulfilment, OrderNote } from '../domain.ts'

const update = updateOfVersion(fulfilments)

/**
 * Writes fulfilments and notes of orders; the caller has locked the order.
 * @param changed called inside every write that changes what an order shows
 */
export function createFulfilmentStore(changed: (tx: Writer, orderId: string) => void) {
  return {
    async insert(tx: Writer, fulfilment: Fulfilment): Promise<void> {
      await tx.insert(fulfilments).values(fulfilment)
      changed(tx, fulfilment.orderId)
    },
    /** Returns the corrected fulfilment; undefined if its version has changed. */
    async change(
      tx: Writer,
      { id, version }: Pick<Fulfilment, 'id' | 'version'>,
      change: Pick<Fulfilment, 'trackingNumber' | 'carrier' | 'updatedAt'>,
    ): Promise<Fulfilment | undefined> {
      const row = await update(tx, { id, version }, { ...change, version: version + 1 })
      if (row) changed(tx, row.orderId)
      return row
    },
    async insertNote(tx: Writer, note: OrderNote): Promise<void> {
      await tx.insert(orderNotes).values(note)
      changed(tx, note.orderId)
    },
  }
}
