import type { Writer } from '../../../db/engine.ts'
import type { ProcessorMessage } from '../../clients/processors/processor.ts'
import { type Movement, recordMovements } from '../ledger/index.ts'
import type { Payment } from '../payment/domain.ts'
import { enqueueMessage } from '../webhook/index.ts'
import type { Dispute, Order } from './domain.ts'
import { appendEvent } from './events.ts'
import type { OrderDeps } from './parts.ts'
import { commonOf } from './refund-parts.ts'

// Money that the shopper's bank took back, as messages tell of it: no refund, and nothing of the order changes but what is told of it.

/** A dispute as a processor's message has it; amounts in minor units. */
export type ToldDispute = NonNullable<ProcessorMessage['dispute']>

/**
 * Notes what a message says of a dispute about a payment, inside the write that works the message. Told twice, late or in another order, it
 * leads to the same: what is won or lost is not open again, and what is lost stays lost. One in another currency than its payment's is
 * noted, told, and not booked: what the shop's account lost in its own money is not known.
 */
export async function noteDispute(
  tx: Writer,
  deps: OrderDeps,
  { payment, dispute: told }: { payment: Pick<Payment, 'id' | 'orderId' | 'status' | 'processor' | 'currency'>; dispute: ToldDispute },
): Promise<void> {
  const { orderStore: store } = deps
  const order = await store.lock(tx, payment.orderId)
  if (!order) throw new Error('a payment without its order')
  const known = await store.findDispute(tx, payment.id, told.reference)
  const dispute = known ? await moveOn(tx, deps, known, told.state) : await open(tx, deps, order, { payment, told })
  if (!dispute) return
  const { id, reference, amount, currency, status } = dispute
  const isBooked = currency === payment.currency
  const movements = movementsOf(dispute, known?.status).map((moved) => ({
    ...commonOf(order, { currency, isSale: payment.status === 'CAPTURED' }, deps.clock.now()),
    processor: payment.processor,
    amount,
    ...moved,
  }))
  await recordMovements(tx, deps, isBooked && amount > 0 ? movements : [])
  const trace = { order: order.id, payment: payment.id, processor: payment.processor, dispute: id, state: status }
  if (isBooked) deps.log.warn('payment.disputed', trace)
  else deps.log.error('payment.disputed', { ...trace, currency, booked: false })
  const detail = { dispute: id, payment: payment.id, ...(isBooked ? { amount } : {}) }
  await appendEvent(tx, deps, { orderId: order.id, type: status === 'OPEN' ? 'DISPUTE_OPENED' : `DISPUTE_${status}`, detail })
  await enqueueMessage(tx, deps, {
    shopId: order.shopId,
    event: 'order.disputed',
    key: `order.disputed:${id}:${status}`,
    data: { orderId: order.id, number: order.number, dispute: { id, reference, amount: { amount, currency }, status } },
  })
}

type Opened = { payment: Pick<Payment, 'id'>; told: ToldDispute }

async function open(tx: Writer, { orderStore, newId, clock }: OrderDeps, order: Order, { payment, told }: Opened): Promise<Dispute> {
  const { reference, amount, currency, state: status } = told
  const now = clock.now()
  const of = { orderId: order.id, shopId: order.shopId, paymentId: payment.id }
  const dispute = { id: newId('dispute'), ...of, reference, amount, currency, status, createdAt: now, updatedAt: now }
  await orderStore.insertDispute(tx, dispute)
  return dispute
}

/** Undefined where a dispute is that already, or has gone beyond it. */
async function moveOn(
  tx: Writer,
  { orderStore: store, clock }: OrderDeps,
  { id }: Dispute,
  to: Dispute['status'],
): Promise<Dispute | undefined> {
  const updatedAt = clock.now()
  if (to === 'OPEN') return undefined
  return to === 'WON'
    ? store.moveDispute(tx, id, ['OPEN'], to, { updatedAt })
    : store.moveDispute(tx, id, ['OPEN', 'WON'], to, { updatedAt })
}

/** Which way the money went: it is taken as long as a dispute is open, and by one that is lost. */
function movementsOf({ id, status }: Dispute, before: Dispute['status'] | undefined): Pick<Movement, 'kind' | 'key'>[] {
  const taken = { kind: 'DISPUTE', key: `dispute:${id}` } as const
  const won = { kind: 'DISPUTE_WON', key: `dispute-won:${id}` } as const
  if (before === undefined) return status === 'WON' ? [taken, won] : [taken]
  if (status === 'WON') return [won]
  return before === 'WON' ? [{ kind: 'DISPUTE', key: `dispute-lost:${id}` }] : []
}
