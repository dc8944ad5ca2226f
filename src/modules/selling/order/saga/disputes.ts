import type { Writer } from '../../../../../db/engine.ts'
import type { ProcessorMessage } from '../../../../clients/processors/processor.ts'
import { enqueueMessage } from '../../../messaging/webhook/index.ts'
import { type Movement, recordMovements } from '../../../payments/ledger/index.ts'
import type { Payment } from '../../../payments/payment/domain.ts'
import { paymentsWithin } from '../../../payments/payment/index.ts'
import type { Dispute, Order } from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import { commonOf } from '../refunds/refund-lines.ts'

// Disputes: money that the shopper's bank reclaims. They are no refunds and do not change the order's status.

/** A dispute as a processor's webhook reports it; amounts in minor units. */
export type ReportedDispute = NonNullable<ProcessorMessage['dispute']>

/**
 * Records a dispute inside the write that processes its webhook. Repeated, late and reordered webhooks lead to the
 * same state: WON and LOST do not become OPEN, and LOST is final. A dispute takes at most what was captured and no
 * other dispute took. One in another currency is recorded and announced, but not booked: the shop's loss in its own
 * currency is unknown.
 */
export async function recordDispute(
  tx: Writer,
  deps: OrderDeps,
  { payment: about, dispute: reported }: { payment: Pick<Payment, 'id' | 'orderId'>; dispute: ReportedDispute },
): Promise<void> {
  const { orderStore: store } = deps
  const [order, payments] = await Promise.all([store.lock(tx, about.orderId), paymentsWithin(tx, deps, about.orderId)])
  const payment = payments.find(({ id }) => id === about.id)
  if (!order || !payment) throw new Error('a payment without its order')
  const all = await store.disputesOf(tx, order.id)
  const existing = all.find(({ paymentId, reference: name }) => paymentId === payment.id && name === reported.reference)
  const left = disputableAmount(payment, all, existing)
  const dispute = existing
    ? await advanceDispute(tx, deps, existing, { to: reported.state, left })
    : await openDispute(tx, deps, order, { payment, reported, left })
  if (!dispute) return
  const { id, reference, amount, currency, status } = dispute
  const isBooked = currency === payment.currency
  const movements = movementsOf(dispute, existing?.status).map((moved) => ({
    ...commonOf(order, { currency, isSale: payment.status === 'CAPTURED' }, deps.clock.now()),
    processor: payment.processor,
    amount,
    ...moved,
  }))
  // Disputes are no refunds, so the dashboards do not count them.
  await recordMovements(tx, deps, isBooked && amount > 0 ? movements : [], { isCounted: false, mode: order.mode })
  const trace = { order: order.id, payment: payment.id, processor: payment.processor, dispute: id, state: status }
  const isCapped = isBooked && reported.amount > amount
  if (isBooked && !isCapped) deps.log.warn('payment.disputed', trace)
  else deps.log.error('payment.disputed', isCapped ? { ...trace, told: reported.amount, amount } : { ...trace, currency, booked: false })
  const detail = { dispute: id, payment: payment.id, ...(isBooked ? { amount } : {}), ...(isCapped ? { told: reported.amount } : {}) }
  await appendEvent(tx, deps, { orderId: order.id, type: status === 'OPEN' ? 'DISPUTE_OPENED' : `DISPUTE_${status}`, detail })
  await enqueueMessage(tx, deps, {
    shopId: order.shopId,
    event: 'order.disputed',
    key: `order.disputed:${id}:${status}`,
    data: { orderId: order.id, number: order.number, dispute: { id, reference, amount: { amount, currency }, status } },
  })
}

/** The captured amount that other disputes of the payment have not taken, in minor units. */
function disputableAmount({ id, captured, currency }: Payment, all: readonly Dispute[], existing: Dispute | undefined): number {
  const others = all.filter((one) => one.paymentId === id && one.id !== existing?.id && one.status !== 'WON' && one.currency === currency)
  return Math.max(0, captured - others.reduce((sum, { amount }) => sum + amount, 0))
}

type NewDispute = { payment: Pick<Payment, 'id' | 'currency'>; reported: ReportedDispute; left: number }

async function openDispute(
  tx: Writer,
  { orderStore, newId, clock }: OrderDeps,
  order: Order,
  { payment, reported, left }: NewDispute,
): Promise<Dispute> {
  const { reference, currency, state: status } = reported
  const amount = currency === payment.currency ? Math.min(reported.amount, left) : reported.amount
  const now = clock.now()
  const of = { orderId: order.id, shopId: order.shopId, paymentId: payment.id }
  const dispute = { id: newId('dispute'), ...of, reference, amount, currency, status, createdAt: now, updatedAt: now }
  await orderStore.insertDispute(tx, dispute)
  return dispute
}

/** Moves a dispute on; undefined if it is in that state or beyond it. */
async function advanceDispute(
  tx: Writer,
  { orderStore: store, clock }: OrderDeps,
  { id, status, amount }: Dispute,
  { to, left }: { to: Dispute['status']; left: number },
): Promise<Dispute | undefined> {
  const updatedAt = clock.now()
  if (to === 'OPEN') return undefined
  if (to === 'WON') return store.moveDispute(tx, id, ['OPEN'], to, { updatedAt })
  // Another dispute may have taken the money that this one returned.
  const takenAmount = status === 'WON' ? Math.min(amount, left) : amount
  return store.moveDispute(tx, id, ['OPEN', 'WON'], to, { updatedAt, amount: takenAmount })
}

/** The movements of a change: OPEN and LOST take the money, WON returns it. */
function movementsOf({ id, status }: Dispute, before: Dispute['status'] | undefined): Pick<Movement, 'kind' | 'key'>[] {
  const movement = { kind: 'DISPUTE', key: `dispute:${id}` } as const
  const won = { kind: 'DISPUTE_WON', key: `dispute-won:${id}` } as const
  if (before === undefined) return status === 'WON' ? [movement, won] : [movement]
  if (status === 'WON') return [won]
  return before === 'WON' ? [{ kind: 'DISPUTE', key: `dispute-lost:${id}` }] : []
}
