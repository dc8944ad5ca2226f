import { and, asc, desc, eq, inArray } from 'drizzle-orm'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { rowsOf } from '../../../../db/prepared.ts'
import { refunds } from '../../../../db/schema/payments.ts'
import { returns } from '../../../../db/schema/returns.ts'
import { orders } from '../../../../db/schema/selling.ts'
import { createStateMachine } from '../../../core/state-machine.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { type OrderReturn, type ReturnFilter, returnTransitions } from './domain.ts'

const ofOrder = rowsOf(returns, ['orderId'], asc(returns.id))

/**
 * Reads and writes returns; the caller has locked the order.
 * @param changed called inside every write that changes what an order shows
 */
export function createReturnStore(changed: (tx: Writer, orderId: string) => void) {
  const { move } = createStateMachine(returns, returnTransitions, { onChange: (tx, { orderId }) => changed(tx, orderId) })
  return {
    /** Oldest first. */
    ofOrder: async (from: Pick<Reader, 'all'>, orderId: string): Promise<OrderReturn[]> => from.all(ofOrder, { orderId }),
    /** Lists a shop's returns, newest first, with the numbers of their orders and the refunds made. */
    async list(read: Pick<Reader, 'select'>, { shopId, status }: ReturnFilter, slice: PageSlice) {
      const { rows, total } = await selectSlice(read, returns, {
        where: and(eq(returns.shopId, shopId), status === undefined ? undefined : eq(returns.status, status)),
        order: [desc(returns.id)],
        ...slice,
      })
      const [orderIds, refundIds] = [rows.map(({ orderId }) => orderId), rows.flatMap(({ refundId }) => refundId ?? [])]
      const numbers = await read.select({ id: orders.id, number: orders.number }).from(orders).where(inArray(orders.id, orderIds))
      const made = await read.select({ id: refunds.id, status: refunds.status }).from(refunds).where(inArray(refunds.id, refundIds))
      return { rows, total, numbers: new Map(numbers.map(({ id, number }) => [id, number])), refunds: made }
    },
    async insert(tx: Writer, row: OrderReturn): Promise<void> {
      await tx.insert(returns).values(row)
      changed(tx, row.orderId)
    },
    move,
  }
}
