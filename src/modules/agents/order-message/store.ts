import { and, asc, eq, gt, inArray, lt, lte, ne, sql } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { agentMessages } from '../../../../db/schema/agents.ts'
import { orders } from '../../../../db/schema/selling.ts'

export type OrderMessage = typeof agentMessages.$inferSelect
/** The first message of an order that is not sent yet, if it is due. */
export type DueMessage = { id: string; orderId: string; profile: string }

/** Literal, so that the partial index applies. */
const isPending = sql`${agentMessages.status} = 'PENDING'`

export const orderMessageStore = {
  /** Returns orders of platforms that have a profile, with the number of their last message. */
  async ordersOf(tx: Writer, ids: readonly string[]): Promise<{ id: string; shopId: string; last: number }[]> {
    const { id, shopId, agent } = orders
    const last = sql<number | string>`(select coalesce(max(sequence), 0) from agent_messages where order_id = orders.id)`
    const found = await tx
      .select({ id, shopId, agent, last })
      .from(orders)
      .where(inArray(id, [...ids]))
    return found.filter((order) => order.agent?.profile).map((order) => ({ ...order, last: Number(order.last) }))
  },
  insert: async (tx: Writer, rows: OrderMessage[]): Promise<void> => void (await tx.insert(agentMessages).values(rows)),
  /** Returns due messages by order, after an order. */
  async due(read: Reader, now: number, after: string, limit: number): Promise<DueMessage[]> {
    const { id, orderId, sequence, nextAt } = agentMessages
    const isFirst = sql`not exists (select 1 from agent_messages earlier
      where earlier.order_id = ${orderId} and earlier.status = 'PENDING' and earlier.sequence < ${sequence})`
    const rows = await read
      .select({ id, orderId, agent: orders.agent })
      .from(agentMessages)
      .innerJoin(orders, eq(orders.id, orderId))
      .where(and(isPending, lte(nextAt, now), gt(orderId, after), isFirst))
      .orderBy(asc(orderId))
      .limit(limit)
    return rows.map(({ agent, ...message }) => ({ ...message, profile: agent?.profile ?? '' }))
  },
  /** Leases due messages until a time. Returns those that no other process leased. */
  claim: (tx: Writer, ids: readonly string[], now: number, until: number): Promise<OrderMessage[]> =>
    tx
      .update(agentMessages)
      .set({ attempts: sql`${agentMessages.attempts} + 1`, nextAt: until, updatedAt: now })
      .where(and(inArray(agentMessages.id, [...ids]), isPending, lte(agentMessages.nextAt, now)))
      .returning(),
  async change(tx: Writer, id: string, change: Partial<OrderMessage>): Promise<void> {
    await tx
      .update(agentMessages)
      .set(change)
      .where(and(eq(agentMessages.id, id), isPending))
  },
  /** Deletes finished messages created before a time. Returns their number. */
  async removeOld(tx: Writer, before: number, limit: number): Promise<number> {
    const { id, status, createdAt } = agentMessages
    const old = tx
      .select({ id })
      .from(agentMessages)
      .where(and(ne(status, 'PENDING'), lt(createdAt, before)))
      .limit(limit)
    return (await tx.delete(agentMessages).where(inArray(id, old)).returning({ id })).length
  },
}
