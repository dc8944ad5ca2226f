import { and, eq, gte, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../db/engine.ts'
import { insertOf, lockedRowsOf, rowsOf, updateOf } from '../../../db/prepared.ts'
import { sandboxPayments, sandboxRefunds } from '../../../db/schema/sandbox.ts'

export type SandboxPayment = typeof sandboxPayments.$inferSelect
export type SandboxRefund = typeof sandboxRefunds.$inferSelect
export type SandboxStore = ReturnType<typeof createSandboxStore>

const paymentById = rowsOf(sandboxPayments, ['id'])
const lockedPayment = lockedRowsOf(sandboxPayments, ['id'])
const refundById = rowsOf(sandboxRefunds, ['id'])
const insertPayment = insertOf(sandboxPayments, 'leave')
const updatePayment = updateOf(
  sandboxPayments,
  and(eq(sandboxPayments.id, sql.placeholder('which')), eq(sandboxPayments.status, sql.placeholder('from'))),
)

export function createSandboxStore({ read }: Pick<Database, 'read'>) {
  return {
    async find(id: string): Promise<SandboxPayment | undefined> {
      return read.first(paymentById, { id })
    },
    /** As it stands, in a write that has it to itself from then on. */
    async lock(tx: Writer, id: string): Promise<SandboxPayment | undefined> {
      return tx.first(lockedPayment, { id })
    },
    /** Leaves the one that is there already. */
    insert: insertPayment,
    /** Moves a payment on from `from`; undefined, and nothing is done, in any other status. */
    async move(
      tx: Writer,
      id: string,
      from: SandboxPayment['status'],
      change: Partial<Pick<SandboxPayment, 'status' | 'captured'>>,
    ): Promise<SandboxPayment | undefined> {
      const [moved] = await updatePayment(tx, change, { which: id, from })
      return moved
    },
    async findRefund(from: Pick<Reader, 'first'>, id: string): Promise<SandboxRefund | undefined> {
      return from.first(refundById, { id })
    },
    /** False when more would go back than was captured. */
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
