import { and, eq, gte, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../db/engine.ts'
import { sandboxPayments, sandboxRefunds } from '../../../db/schema/selling.ts'

export type SandboxPayment = typeof sandboxPayments.$inferSelect
export type SandboxRefund = typeof sandboxRefunds.$inferSelect

const at = (id: string) => eq(sandboxPayments.id, id)

export const sandboxStore = {
  async find(from: Pick<Reader, 'select'>, id: string): Promise<SandboxPayment | undefined> {
    const [row] = await from.select().from(sandboxPayments).where(at(id)).limit(1)
    return row
  },
  /** Leaves the one that is there. */
  async insert(tx: Writer, row: SandboxPayment): Promise<void> {
    await tx.insert(sandboxPayments).values(row).onConflictDoNothing()
  },
  /** Moves a payment on from `from`; does nothing in any other status. */
  async move(
    tx: Writer,
    id: string,
    from: SandboxPayment['status'],
    change: Partial<Pick<SandboxPayment, 'status' | 'captured'>>,
  ): Promise<void> {
    await tx
      .update(sandboxPayments)
      .set(change)
      .where(and(at(id), eq(sandboxPayments.status, from)))
  },
  async findRefund(from: Pick<Reader, 'select'>, id: string): Promise<SandboxRefund | undefined> {
    const [row] = await from.select().from(sandboxRefunds).where(eq(sandboxRefunds.id, id)).limit(1)
    return row
  },
  /** False when more would go back than was captured. */
  async refund(tx: Writer, refund: SandboxRefund): Promise<boolean> {
    const rows = await tx
      .update(sandboxPayments)
      .set({ refunded: sql`${sandboxPayments.refunded} + ${refund.amount}` })
      .where(and(at(refund.paymentId), gte(sql`${sandboxPayments.captured} - ${sandboxPayments.refunded}`, refund.amount)))
      .returning({ id: sandboxPayments.id })
    if (rows.length > 0) await tx.insert(sandboxRefunds).values(refund)
    return rows.length > 0
  },
}
