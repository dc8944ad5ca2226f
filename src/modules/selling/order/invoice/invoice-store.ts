import { asc, eq, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../../db/engine.ts'
import { insertOf, rowsOf } from '../../../../../db/prepared.ts'
import { creditNoteNumbers, creditNotes, invoices } from '../../../../../db/schema/invoices.ts'

export type Invoice = typeof invoices.$inferSelect
export type CreditNote = typeof creditNotes.$inferSelect

const prepared = {
  invoice: rowsOf(invoices, ['orderId']),
  creditNotes: rowsOf(creditNotes, ['orderId'], asc(creditNotes.number)),
}

/** Stored facts of invoices and credit notes. They are never changed, except by an erasure. */
export const invoiceStore = {
  find: async (from: Pick<Reader, 'first'>, orderId: string): Promise<Invoice | undefined> => from.first(prepared.invoice, { orderId }),
  insert: insertOf(invoices),
  /** Returns an order's credit notes by number. */
  creditNotesOf: async (from: Pick<Reader, 'all'>, orderId: string): Promise<CreditNote[]> => from.all(prepared.creditNotes, { orderId }),
  async hasCreditNote(tx: Writer, refundId: string): Promise<boolean> {
    const rows = await tx.select({ number: creditNotes.number }).from(creditNotes).where(eq(creditNotes.refundId, refundId))
    return rows.length > 0
  },
  /** Inserts a credit note under the next number. All credit notes of the shop wait for it until the commit. */
  async insertCreditNote(tx: Writer, note: Omit<CreditNote, 'number'>): Promise<void> {
    const { shopId, mode } = note
    const [drawn] = await tx
      .insert(creditNoteNumbers)
      .values({ shopId, mode, last: 1 })
      .onConflictDoUpdate({
        target: [creditNoteNumbers.shopId, creditNoteNumbers.mode],
        set: { last: sql`${creditNoteNumbers.last} + 1` },
      })
      .returning({ number: creditNoteNumbers.last })
    if (!drawn) throw new Error('no number for a credit note')
    await tx.insert(creditNotes).values({ ...note, ...drawn })
  },
}
