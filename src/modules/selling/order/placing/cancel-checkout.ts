import { locking } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { hasFailed } from '../../../payments/payment/domain.ts'
import { paymentsWithin } from '../../../payments/payment/index.ts'
import { lockCart, reopenCart } from '../../cart/index.ts'
import { endedPaymentStatus, endedWithoutSale, type Order } from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import { notifyCancelled } from '../refunds/refund-effects.ts'
import { refundExcess, settleRefund } from '../refunds/refunds.ts'
import { releaseHolds } from '../saga/confirm-order.ts'
import { refreshSaga, voidOpenPayment } from '../saga/saga.ts'
import type { SagaContext } from '../saga/saga-context.ts'

const stillPayable = () =>
  new AppError('CONFLICT', 'A payment for this order may still succeed. Try again in a moment', { code: 'payment_in_progress' })
const isBought = () => new AppError('CONFLICT', 'The cart was already paid', { code: 'cart_closed' })
const isCheckedOutAgain = () => new AppError('CONFLICT', 'The cart was checked out by another request', { code: 'cart_changed' })

/**
 * Cancels an unpaid order: voids the open payment, then cancels the order, releases its holds and reopens its cart in
 * one write. An order that already ended unpaid only reopens its cart.
 * @param actor the shopper, for the order's events
 * @throws AppError CONFLICT if a payment succeeded or may still succeed
 */
export async function cancelUnpaidOrder(deps: OrderDeps, orderId: string, context: SagaContext, actor: string): Promise<void> {
  // The payment may be captured already, and its message lost.
  const saga = await voidOpenPayment(deps, await refreshSaga(deps, orderId, context), context)
  if (typeof saga === 'string') throw stillPayable()
  assertUnpaid(saga.order)
  const refunds = await deps.db.write(async (tx) => {
    // The cart is locked before its order, as in a checkout. Another order may own it by now.
    await lockCart(tx, deps, saga.order.cartId)
    const last = await deps.orderStore.findByCart(saga.order.cartId, tx)
    if (last?.id !== orderId) throw isCheckedOutAgain()
    await reopenCart(tx, deps, saga.order.cartId, saga.order)
    let order = await deps.orderStore.lock(tx, orderId)
    if (!order) throw new Error('an order is gone')
    assertUnpaid(order)
    const payments = await paymentsWithin(tx, deps, orderId)
    if (!payments.every(hasFailed)) throw stillPayable()
    if (order.status === 'PENDING_PAYMENT') {
      const ended = { ...endedPaymentStatus(order, payments), attempts: 0, resumeAt: null, updatedAt: deps.clock.now() }
      order = await deps.orderStore.move(tx, orderId, ['PENDING_PAYMENT'], 'CANCELLED', ended)
      if (!order) throw stillPayable()
      await appendEvent(tx, deps, { orderId, type: 'CANCELLED', actor })
      await notifyCancelled(tx, deps, { order, reason: null })
    }
    return refundExcess(tx, deps, { order: await releaseHolds(tx, deps, order), payments }, context.holder)
  }, locking)
  for (const { id } of refunds) await settleRefund(deps, id, context, { isNew: true })
}

/** @throws AppError CONFLICT unless the order awaits its payment or ended without a sale */
function assertUnpaid(order: Order): void {
  const isUnpaid = order.status === 'PENDING_PAYMENT' || (endedWithoutSale(order) && order.status !== 'COMPENSATING')
  if (!isUnpaid) throw isBought()
}
