import type { Writer } from '../../../db/engine.ts'
import type { ProcessorPayment } from '../../clients/processors/processor.ts'
import { isUnderWay, type Payment, type PaymentStatus } from '../payment/domain.ts'
import { askProcessor, noteCapture, noteProgress, paymentWithin, type Question } from '../payment/index.ts'
import { type Order, type Refund, resumeAfterMs } from './domain.ts'
import { appendEvent } from './events.ts'
import type { OrderDeps } from './parts.ts'
import { beginMoneyBack, settleRefund } from './refunds.ts'

/**
 * Asks a payment's processor, and notes what it says on the payment and its order.
 * @returns false when it said nothing that can be relied on: then nothing has changed
 */
export const askPayment = (deps: OrderDeps, question: Question, payment: Payment): Promise<boolean> =>
  askProcessor(deps, question, payment, (answer) => noteAnswer(deps, payment.id, answer))

/**
 * Writes down what a processor says of a payment. Said twice, late or in another order, it leads to the same: a payment only
 * ever moves on, money counts once, and money that nobody waits for any more goes back.
 */
export async function noteAnswer(deps: OrderDeps, paymentId: string, answer: ProcessorPayment): Promise<void> {
  const refund = await deps.db.write(async (tx) => {
    const payment = await paymentWithin(tx, deps, paymentId)
    const order = payment && (await deps.orderStore.get(tx, payment.orderId))
    if (!payment || !order) return undefined
    if (answer.captured > payment.captured) return capture(tx, deps, { order, payment, answer })
    if (answer.captured === 0 && isUnderWay(payment)) await progress(tx, deps, { order, payment, answer })
    return undefined
  })
  if (refund) await settleRefund(deps, refund.id)
}

type Noted = { order: Order; payment: Payment; answer: ProcessorPayment }

/** The money is there: the order is paid, or it is money that nobody waits for (any more, or not this much), and goes back. */
async function capture(tx: Writer, deps: OrderDeps, { order, payment, answer }: Noted): Promise<Refund | undefined> {
  const { orderStore: store } = deps
  const { captured } = answer
  const { id, processor, amount } = payment
  const updatedAt = deps.clock.now()
  const isAwaited = order.status === 'PENDING_PAYMENT' && isUnderWay(payment)
  // A part of it: the rest may come yet, and what was authorized is given up when the order's time is over.
  if (isAwaited && captured < amount) return undefined
  if (isAwaited && captured === amount) {
    await noteCapture(tx, deps, { payment, answer, ends: 'CAPTURED' })
    const paid = { paymentStatus: 'CAPTURED', capturedTotal: captured, resumeAt: updatedAt + resumeAfterMs, updatedAt } as const
    await store.move(tx, order.id, ['PENDING_PAYMENT'], 'PAID', paid)
    await store.stepsDone(tx, order.id, ['AUTHORIZE', 'CAPTURE'], updatedAt)
    await appendEvent(tx, deps, { orderId: order.id, type: 'PAYMENT_CAPTURED', detail: { payment: id, processor, amount: captured } })
    return undefined
  }
  const more = captured - payment.captured
  // An order that ended unpaid shows the money that came and went; one that waits for another payment, or had one, does not.
  const counts = (order.status === 'EXPIRED' || order.status === 'CANCELLED') && order.confirmedAt === null
  await noteCapture(tx, deps, { payment, answer, ends: isUnderWay(payment) ? (counts ? 'CAPTURED' : 'FAILED') : undefined })
  if (counts) await store.change(tx, order.id, [order.status], { capturedTotal: order.capturedTotal + more, updatedAt })
  else if (isUnderWay(payment))
    await store.change(tx, order.id, ['PENDING_PAYMENT'], { paymentStatus: 'FAILED', resumeAt: null, updatedAt })
  await appendEvent(tx, deps, { orderId: order.id, type: 'LATE_CAPTURE', detail: { payment: id, processor, amount: more } })
  return beginMoneyBack(tx, deps, {
    order,
    purpose: counts ? 'COMPENSATE' : 'LATE_CAPTURE',
    attemptKey: `late:${id}:${captured}`,
    payment,
    parts: { amount: more, giftCardAmount: 0, giftCards: [] },
  })
}

/** Everything else than money. */
async function progress(tx: Writer, deps: OrderDeps, { order, payment, answer }: Noted): Promise<void> {
  const { orderStore: store } = deps
  // An authorization for an order that has ended is given up, and never counts.
  if (answer.state === 'AUTHORIZED' && order.status !== 'PENDING_PAYMENT') return
  const status = await noteProgress(tx, deps, { payment, answer })
  if (!status) return
  const detail = { payment: payment.id, processor: payment.processor }
  const updatedAt = deps.clock.now()
  switch (status) {
    case 'REQUIRES_ACTION':
      // The shopper is at work now: nobody needs to look before they come back, a message arrives or the order expires.
      await store.change(tx, order.id, ['PENDING_PAYMENT'], { resumeAt: null, updatedAt })
      await appendEvent(tx, deps, { orderId: order.id, type: 'PAYMENT_REQUIRES_ACTION', detail })
      return
    case 'AUTHORIZED': {
      const authorized = { paymentStatus: 'AUTHORIZED', resumeAt: updatedAt + resumeAfterMs, updatedAt } as const
      await store.change(tx, order.id, ['PENDING_PAYMENT'], authorized)
      await store.stepsDone(tx, order.id, ['AUTHORIZE'], updatedAt)
      await appendEvent(tx, deps, { orderId: order.id, type: 'PAYMENT_AUTHORIZED', detail: { ...detail, amount: answer.authorized } })
      return
    }
    case 'FAILED':
    case 'VOIDED':
      await noteEnd(tx, deps, {
        order,
        status,
        detail: { ...detail, ...(answer.failureCode === undefined ? {} : { code: answer.failureCode }) },
      })
  }
}

async function noteEnd(
  tx: Writer,
  deps: OrderDeps,
  { order, status, detail }: { order: Order; status: Extract<PaymentStatus, 'FAILED' | 'VOIDED'>; detail: Record<string, string> },
): Promise<void> {
  const { orderStore: store } = deps
  const updatedAt = deps.clock.now()
  // It may be paid again under a new key; until then it waits, and gives its stock back when its time is over.
  await store.change(tx, order.id, ['PENDING_PAYMENT'], { paymentStatus: 'FAILED', resumeAt: null, updatedAt })
  if (order.confirmedAt === null) await store.change(tx, order.id, ['EXPIRED', 'CANCELLED'], { paymentStatus: status, updatedAt })
  await appendEvent(tx, deps, { orderId: order.id, type: `PAYMENT_${status}`, detail })
}
