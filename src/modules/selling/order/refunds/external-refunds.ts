import type { Writer } from '../../../../../db/engine.ts'
import { locking } from '../../../../core/command-context.ts'
import { noLease } from '../../../../core/leases.ts'
import type { Payment } from '../../../payments/payment/domain.ts'
import { type PaymentAnswer, paymentsWithin } from '../../../payments/payment/index.ts'
import { endedWithoutSale, type Order, type Refund } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import { applyRefundEffects } from './refund-effects.ts'
import { unaccountedAmount } from './refund-responses.ts'
import { createRefund, openRefundStatuses } from './refunds.ts'

// Refunds that the shop made on the processor's own pages, and changes of refunds made here.

/** Records external refunds of a captured payment, and makes the job query its open refunds at once. */
export async function syncRefunds(deps: OrderDeps, payment: Payment, { refunded }: Pick<PaymentAnswer, 'refunded'>): Promise<void> {
  if (payment.captured === 0) return
  const { orderStore: store, db, clock } = deps
  const refunds = await store.refundsOf(db.read, payment.orderId)
  if (refunded !== undefined && unaccountedAmount(payment, refunds, refunded) > 0) await recordExternalRefund(deps, payment, refunded)
  const now = clock.now()
  const refundsToQuery = refunds.filter(
    (refund) => refund.paymentId === payment.id && (refund.resumeAt ?? 0) > now && refund.processorReference !== null,
  )
  if (refundsToQuery.length === 0) return
  await db.write(async (tx) => {
    for (const { id } of refundsToQuery) {
      const refund = await store.lockRefund(tx, id)
      if (refund && refund.resumeAt !== null) await store.changeRefund(tx, id, openRefundStatuses, { resumeAt: now })
    }
  }, locking)
}

/**
 * Records money that a processor returned without a request of ours: it first settles MANUAL refunds, and the rest
 * becomes a refund with purpose ELSEWHERE. Repeated reports change nothing. While a refund of the payment is pending,
 * nothing is recorded: the money may be that refund's.
 */
async function recordExternalRefund(deps: OrderDeps, { id, orderId }: Payment, refunded: number): Promise<void> {
  const { orderStore: store } = deps
  await deps.db.write(async (tx) => {
    const [order, payments] = await Promise.all([store.lock(tx, orderId), paymentsWithin(tx, deps, orderId)])
    const payment = payments.find((candidate) => candidate.id === id)
    if (!order || !payment || (order.confirmedAt === null && !endedWithoutSale(order))) return
    const refunds = await store.refundsOf(tx, orderId)
    const refundsOfPayment = refunds.filter(({ paymentId }) => paymentId === id)
    if (refundsOfPayment.some(({ status }) => status === 'PENDING')) return
    const found = unaccountedAmount(payment, refundsOfPayment, refunded)
    const rest = await settleManual(tx, deps, { order, payment, refundsOfPayment, found })
    const open =
      payment.captured - refundsOfPayment.filter(({ status }) => status !== 'FAILED').reduce((sum, { amount }) => sum + amount, 0)
    const amount = Math.min(rest, open)
    const attemptKey = `ELSEWHERE:${id}:${refunded}`
    if (amount <= 0 || refunds.some((refund) => refund.attemptKey === attemptKey)) return
    const parts = { amount, giftCardAmount: 0, giftCards: [] }
    const newRefund = { order, purpose: 'ELSEWHERE', attemptKey, payment, parts, holder: attemptKey } as const
    const { id: refundId } = await createRefund(tx, deps, newRefund)
    const change = { resumeAt: null, ...noLease, updatedAt: deps.clock.now() }
    const refund = await store.moveRefund(tx, refundId, ['PENDING'], 'SUCCEEDED', change)
    // A settled MANUAL refund has changed the order.
    const current = await store.lock(tx, orderId)
    if (refund && current) await applyRefundEffects(tx, deps, { order: current, from: 'PENDING', refund })
  }, locking)
}

type ExternalRefund = { order: Order; payment: Payment; refundsOfPayment: readonly Refund[]; found: number }

/** Settles the MANUAL refunds that the found amount covers. Returns the rest, in minor units. */
async function settleManual(tx: Writer, deps: OrderDeps, { order, payment, refundsOfPayment, found }: ExternalRefund): Promise<number> {
  const { orderStore: store } = deps
  let rest = found
  // One with a reference failed at the processor, which may still report it.
  for (const { id, amount, status, processorReference } of refundsOfPayment) {
    if (status !== 'MANUAL' || processorReference !== null || amount > rest) continue
    const settledReference = payment.processorReference ?? payment.id
    const refund = await store.moveRefund(tx, id, ['MANUAL'], 'SUCCEEDED', { settledReference, updatedAt: deps.clock.now() })
    const current = await store.lock(tx, order.id)
    if (!refund || !current) continue
    await applyRefundEffects(tx, deps, { order: current, from: 'MANUAL', refund })
    rest -= amount
  }
  return rest
}
