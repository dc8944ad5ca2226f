import { and, eq, gte, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { insertNewOf, lockedRowsOf, prepare, rowsOf, updateOf, valuesOf } from '../../../../db/prepared.ts'
import { sandboxPayments, sandboxRefunds } from '../../../../db/schema/sandbox.ts'

export type SandboxPayment = typeof sandboxPayments.$inferSelect
type SandboxRefund = typeof sandboxRefunds.$inferSelect
export type SandboxStore = ReturnType<typeof createSandboxStore>

const paymentById = rowsOf(sandboxPayments, ['id'])
const lockedPayment = lockedRowsOf(sandboxPayments, ['id'])
const refundById = rowsOf(sandboxRefunds, ['id'])
const updatePayment = updateOf(
  sandboxPayments,
  and(eq(sandboxPayments.id, sql.placeholder('which')), eq(sandboxPayments.status, sql.placeholder('from'))),
)

const capturePayment = prepare((queries) =>
  queries
    .update(sandboxPayments)
    .set({ status: 'CAPTURED', captured: sql`${sandboxPayments.amount}` })
    .where(and(valuesOf(sandboxPayments, ['id']), eq(sandboxPayments.status, sql.placeholder('from'))))
    .returning(),
)

export function createSandboxStore({ read }: Pick<Database, 'read'>) {
  return {
    find: async (id: string): Promise<SandboxPayment | undefined> => read.first(paymentById, { id }),
    /** Reads and locks a payment. */
    lock: async (tx: Writer, id: string): Promise<SandboxPayment | undefined> => tx.first(lockedPayment, { id }),
    /** Creates a payment; false if its id exists. */
    begin: insertNewOf(sandboxPayments),
    /** Captures a payment in status `from`; undefined in another status. */
    capture: async (tx: Writer, id: string, from: SandboxPayment['status']): Promise<SandboxPayment | undefined> =>
      tx.first(capturePayment, { id, from }),
    /** Moves a payment from `from`; undefined without a change in another status. */
    async move(
      tx: Writer,
      id: string,
      from: SandboxPayment['status'],
      change: Pick<SandboxPayment, 'status'>,
    ): Promise<SandboxPayment | undefined> {
      const [moved] = await updatePayment(tx, change, { which: id, from })
      return moved
    },
    findRefund: async (from: Pick<Reader, 'first'>, id: string): Promise<SandboxRefund | undefined> => from.first(refundById, { id }),
    /** Returns false if more than the captured amount would be refunded. */
    async refund(tx: Writer, refund: SandboxRefund): Promise<boolean> {
      const rows = await tx
        .update(sandboxPayments)
        .set({ refunded: sql`${sandboxPayments.refunded} + ${refund.amount}` })
        .where(
          and(eq(sandboxPayments.id, refund.paymentId), gte(sql`${sandboxPayments.captured} - ${sandboxPayments.refunded}`, refund.amount)),
        )
        .returning({ id: sandboxPayments.id })
      if (rows.length > 0) await tx.insert(sandboxRefunds).values(refund)
      return rows.length > 0
    },
  }
}
