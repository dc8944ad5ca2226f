import { isDatabaseAway, type Writer } from '../../../db/engine.ts'
import type { ProcessorPayment } from '../../clients/processors/processor.ts'
import { hasPaid, isUnderWay, type Payment, type PaymentStatus } from '../payment/domain.ts'
import { askProcessor, giveUpUnwanted, noteCapture, noteProgress, paymentsWithin, type Question } from '../payment/index.ts'
import { confirm } from './confirming.ts'
import { cameToNothing, type Order, type Refund, resumeAfterMs, type Saga } from './domain.ts'
import type { Drive } from './drive.ts'
import { appendEvent } from './events.ts'
import type { OrderDeps } from './parts.ts'
import { returnUnawaited, settleRefund } from './refunds.ts'

/**
 * Asks a payment's processor, and notes what it says on the payment and its order.
 * @returns the order as it is then; `silent` when nothing was said that can be relied on, `taken` while somebody else is asking: then
 *   nothing has changed
 */
export async function askPayment(deps: OrderDeps, question: Question, payment: Payment, drive: Drive): Promise<Saga | 'silent' | 'taken'> {
  const asked = await askProcessor(deps, question, payment, drive.holder)
  if (asked === 'silent' || asked === 'taken') return asked
  const after = await noteAnswer(deps, payment, asked.answer, drive)
  const unwanted = question === 'create' ? await giveUpUnwanted(deps, payment.id, asked.answer) : undefined
  return unwanted ? noteAnswer(deps, payment, unwanted, drive) : after
}

type Noted = { saga: Saga; refunds: readonly Refund[] }

/**
 * Writes down what a processor says of a payment. Said twice, late or in another order, it leads to the same: a payment only
 * ever moves on, money counts once, and money that nobody waits for goes back. Money that makes an order paid makes it a sale in the same write.
 */
export async function noteAnswer(deps: OrderDeps, payment: Payment, answer: ProcessorPayment, drive: Drive): Promise<Saga> {
  const note = (mayConfirm: boolean) => deps.db.write((tx) => noteWithin(tx, deps, { payment, answer, drive, mayConfirm }))
  const { saga, refunds } = await note(true).catch((error: unknown) => {
    if (isDatabaseAway(error)) throw error
    // Whatever keeps it from becoming a sale, that its money is there must not get lost.
    deps.log.error('order.not_confirmed', { order: payment.orderId, payment: payment.id, processor: payment.processor, error })
    return note(false)
  })
  for (const { id } of refunds) await settleRefund(deps, id, drive, { isNew: true })
  return saga
}

type Answered = { payment: Payment; answer: ProcessorPayment; drive: Drive; mayConfirm: boolean }

async function noteWithin(tx: Writer, deps: OrderDeps, { payment: { id, orderId }, answer, drive, mayConfirm }: Answered): Promise<Noted> {
  const order = await deps.orderStore.get(tx, orderId)
  const payments = order && (await paymentsWithin(tx, deps, orderId))
  const payment = payments?.find((one) => one.id === id)
  if (!order || !payments || !payment) throw new Error('a payment without its order')
  const noted = { order, payments, payment, answer, drive }
  if (answer.captured <= payment.captured) {
    if (isUnderWay(payment)) await progress(tx, deps, noted)
    return { saga: await sagaWithin(tx, deps, orderId), refunds: [] }
  }
  const othersAreLive = payments.some((one) => one.id !== id && isUnderWay(one))
  const isAwaited = order.status === 'PENDING_PAYMENT'
  if (isAwaited && answer.captured >= payment.amount && !othersAreLive) {
    await noteCapture(tx, deps, { payment, answer, becomes: 'CAPTURED' })
    return paid(tx, deps, { order, paymentId: id, drive, mayConfirm })
  }
  if (isAwaited) await partlyCaptured(tx, deps, noted)
  else await lateCaptured(tx, deps, noted)
  const saga = await sagaWithin(tx, deps, orderId)
  return { saga, refunds: isAwaited ? [] : await returnUnawaited(tx, deps, saga, drive.holder) }
}

async function sagaWithin(tx: Writer, deps: OrderDeps, orderId: string): Promise<Saga> {
  const order = await deps.orderStore.get(tx, orderId)
  if (!order) throw new Error('an order is gone')
  return { order, payments: await paymentsWithin(tx, deps, orderId) }
}

/** The order's money is there: it is paid, and a sale. What came besides (of another payment, or too much) goes back. */
async function paid(
  tx: Writer,
  deps: OrderDeps,
  { order, paymentId, drive, mayConfirm }: { order: Order; paymentId: string; drive: Drive; mayConfirm: boolean },
): Promise<Noted> {
  const updatedAt = deps.clock.now()
  const change = {
    paymentStatus: 'CAPTURED',
    capturedTotal: order.amountDue,
    attempts: 0,
    resumeAt: updatedAt + resumeAfterMs,
    updatedAt,
  } as const
  const moved = await deps.orderStore.move(tx, order.id, ['PENDING_PAYMENT'], 'PAID', change)
  if (!moved) throw new Error('an order that was paid is not waiting')
  const payments = await paymentsWithin(tx, deps, order.id)
  const processor = payments.find(({ id }) => id === paymentId)?.processor ?? ''
  await appendEvent(tx, deps, {
    orderId: order.id,
    type: 'PAYMENT_CAPTURED',
    detail: { payment: paymentId, processor, amount: order.amountDue },
  })
  const refunds = await returnUnawaited(tx, deps, { order: moved, payments }, drive.holder)
  return { saga: mayConfirm ? await confirm(tx, deps, { order: moved, payments }, drive) : { order: moved, payments }, refunds }
}

/** Counts the money that had come on a payment after it had ended, now that no other one is under way. */
export async function acceptPayment(deps: OrderDeps, { id, orderId }: Payment, drive: Drive): Promise<Saga> {
  const { saga, refunds } = await deps.db.write(async (tx) => {
    const { order, payments } = await sagaWithin(tx, deps, orderId)
    const payment = payments.find((one) => one.id === id)
    if (order.status !== 'PENDING_PAYMENT' || !payment || payments.some(isUnderWay)) return { saga: { order, payments }, refunds: [] }
    const { processorReference, authorized, captured } = payment
    const answer = { reference: processorReference ?? id, state: 'CAPTURED', authorized, captured } as const
    await noteCapture(tx, deps, { payment, answer, becomes: 'CAPTURED' })
    return paid(tx, deps, { order, paymentId: id, drive, mayConfirm: true })
  })
  for (const refund of refunds) await settleRefund(deps, refund.id, drive, { isNew: true })
  return saga
}

type About = { order: Order; payments: readonly Payment[]; payment: Payment; answer: ProcessorPayment; drive: Drive }

/** A part of the money, or all of it on a payment that had ended while another is under way: the order goes on waiting for the rest. */
async function partlyCaptured(tx: Writer, deps: OrderDeps, { order, payment, answer }: About): Promise<void> {
  const updatedAt = deps.clock.now()
  const { state, captured } = answer
  const ended = isUnderWay(payment) && (state === 'FAILED' || state === 'VOIDED') ? state : undefined
  await noteCapture(tx, deps, { payment, answer, becomes: ended })
  const amount = captured - payment.captured
  await deps.orderStore.change(tx, order.id, ['PENDING_PAYMENT'], {
    capturedTotal: order.capturedTotal + amount,
    resumeAt: updatedAt + (captured >= payment.amount ? 0 : resumeAfterMs),
    updatedAt,
  })
  const detail = { payment: payment.id, processor: payment.processor, amount }
  await appendEvent(tx, deps, { orderId: order.id, type: 'PAYMENT_PARTIALLY_CAPTURED', detail })
}

/** Money that nobody waits for any more. An order that came to nothing shows that it came and went; one that was paid otherwise does not. */
async function lateCaptured(tx: Writer, deps: OrderDeps, { order, payment, answer }: About): Promise<void> {
  const updatedAt = deps.clock.now()
  const amount = answer.captured - payment.captured
  const counts = cameToNothing(order)
  await noteCapture(tx, deps, { payment, answer, becomes: isUnderWay(payment) ? (counts ? 'CAPTURED' : 'FAILED') : undefined })
  if (counts) await deps.orderStore.change(tx, order.id, [order.status], { capturedTotal: order.capturedTotal + amount, updatedAt })
  const detail = { payment: payment.id, processor: payment.processor, amount }
  await appendEvent(tx, deps, { orderId: order.id, type: 'LATE_CAPTURE', detail })
}

/** Everything else than money. */
async function progress(tx: Writer, deps: OrderDeps, { order, payments, payment, answer, drive }: About): Promise<void> {
  const { orderStore: store } = deps
  // An authorization for an order that has ended is given up, and never counts.
  if (answer.state === 'AUTHORIZED' && order.status !== 'PENDING_PAYMENT') return
  const status = await noteProgress(tx, deps, { payment, answer, holder: drive.holder })
  if (!status) return
  const detail = { payment: payment.id, processor: payment.processor }
  const updatedAt = deps.clock.now()
  switch (status) {
    case 'REQUIRES_ACTION':
      // The shopper is at work now: nobody needs to look before they come back, a message arrives or the order expires.
      await store.change(tx, order.id, ['PENDING_PAYMENT'], { attempts: 0, resumeAt: null, updatedAt })
      await appendEvent(tx, deps, { orderId: order.id, type: 'PAYMENT_REQUIRES_ACTION', detail })
      return
    case 'AUTHORIZED': {
      const authorized = { paymentStatus: 'AUTHORIZED', attempts: 0, resumeAt: updatedAt + resumeAfterMs, updatedAt } as const
      await store.change(tx, order.id, ['PENDING_PAYMENT'], authorized)
      await appendEvent(tx, deps, { orderId: order.id, type: 'PAYMENT_AUTHORIZED', detail: { ...detail, amount: answer.authorized } })
      return
    }
    case 'FAILED':
    case 'VOIDED':
      await noteEnd(tx, deps, {
        order,
        status,
        isPaidOtherwise: payments.some(hasPaid),
        detail: { ...detail, ...(answer.failureCode === undefined ? {} : { code: answer.failureCode }) },
      })
  }
}

async function noteEnd(
  tx: Writer,
  deps: OrderDeps,
  {
    order,
    status,
    isPaidOtherwise,
    detail,
  }: { order: Order; status: Extract<PaymentStatus, 'FAILED' | 'VOIDED'>; isPaidOtherwise: boolean; detail: Record<string, string> },
): Promise<void> {
  const { orderStore: store } = deps
  const updatedAt = deps.clock.now()
  // It may be paid again under a new key; until then it waits, and gives its stock back when its time is over.
  const resumeAt = isPaidOtherwise ? updatedAt : null
  await store.change(tx, order.id, ['PENDING_PAYMENT'], { paymentStatus: 'FAILED', attempts: 0, resumeAt, updatedAt })
  if (order.confirmedAt === null) await store.change(tx, order.id, ['EXPIRED', 'CANCELLED'], { paymentStatus: status, updatedAt })
  await appendEvent(tx, deps, { orderId: order.id, type: `PAYMENT_${status}`, detail })
}
