import type { Writer } from '../../../../../db/engine.ts'
import type { Deps } from '../../../../core/deps.ts'
import { addJoinedOrders, type GuestOrders } from '../../../customers/customer/index.ts'
import { audit } from '../../../operations/audit/index.ts'
import type { Order } from '../domain.ts'
import { guestOrdersStore as store } from './guest-orders-store.ts'

/** Orders that one write assigns. */
export const guestOrdersPerWrite = 200

/** What an order adds to its customer's spending, in minor units; 0 before it is confirmed. */
const netSpending = ({ confirmedAt, total, refundedTotal, giftCardRefundedTotal }: Order): number =>
  confirmedAt === null ? 0 : total - refundedTotal - giftCardRefundedTotal

type GuestOrderDeps = Pick<Deps, 'clock' | 'newId' | 'db'> & { readonly orderChanged: (tx: Writer, orderId: string) => void }

/**
 * Assigns a guest's orders to a customer and adds them to the customer's totals in the same write. It waits for orders
 * that another write holds, and counts them as that write left them.
 */
export const guestOrdersOf = (deps: GuestOrderDeps): GuestOrders => ({
  exist: async (read, { shopId, email }) => (await store.idsOf(read, shopId, email, 1)).length > 0,
  async join(tx, { id: customerId, shopId, email }, actor) {
    const ids = await store.idsOf(tx, shopId, email, guestOrdersPerWrite)
    if (ids.length === 0) return false
    const joined = await store.assign(tx, ids, customerId, deps.clock.now())
    const counts = Map.groupBy(joined, ({ currency, mode }) => `${currency} ${mode}`)
    for (const [, [first, ...rest]] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!first) continue
      const { currency, mode } = first
      const group = [first, ...rest]
      const amount = group.reduce((sum, order) => sum + netSpending(order), 0)
      await addJoinedOrders(tx, { customerId, currency, mode, orders: group.length, amount })
    }
    for (const { id } of joined) deps.orderChanged(tx, id)
    if (joined.length > 0)
      await audit(tx, deps, { actor, action: 'customer.orders_joined', subject: customerId, shopId, after: { orders: joined.length } })
    return ids.length === guestOrdersPerWrite
  },
})
