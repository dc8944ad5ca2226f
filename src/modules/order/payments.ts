import type { Writer } from '../../../db/engine.ts'
import { type Processor, type ProcessorPayment, ProcessorRefused, ProcessorUnavailable } from '../../clients/processors/processor.ts'
import { eventOf, type OrderDeps } from './deps.ts'
import { isUnderWay, type Order, type Payment, paymentStatuses, paymentTokenSeal, type Refund, resumeAfterMs } from './domain.ts'
import { newRefund, settleRefund } from './refunds.ts'

/** What a saga may ask a processor. */
export type Question = 'create' | 'ask' | 'capture' | 'void'

/**
 * Asks the processor and notes its answer.
 * @returns false when it said nothing that can be relied on: then nothing has changed
 */
export async function askProcessor(deps: OrderDeps, question: Question, payment: Payment): Promise<boolean> {
  const processor = deps.processors.get(payment.processor)
  if (!processor) {
    deps.log.error('payment.processor_missing', { payment: payment.id, processor: payment.processor })
    return false
  }
  const answer = await answerOf(deps, processor, question, payment)
  if (!answer) return false
  await noteAnswer(deps, payment.id, answer)
  if (question === 'create') await giveUpUnwanted(deps, processor, payment.id, answer)
  return true
}

/** A payment that was ended before its processor had heard of it must not be paid any more, now that it has. */
async function giveUpUnwanted(deps: OrderDeps, processor: Processor, paymentId: string, answer: ProcessorPayment): Promise<void> {
  const payment = await deps.orderStore.findPayment(paymentId)
  if (!payment || !hasEnded(payment) || !isUnderWay({ status: answer.state })) return
  const after = await answerOf(deps, processor, 'void', payment)
  if (after) await noteAnswer(deps, paymentId, after)
}

/** Ended without money; what was captured is no business of this. */
const hasEnded = ({ status }: Payment): boolean => status === 'FAILED' || status === 'VOIDED'

const nameOf = ({ id, processorReference }: Payment) => ({ paymentId: id, reference: processorReference ?? undefined })

async function answerOf(
  deps: OrderDeps,
  processor: Processor,
  question: Question,
  payment: Payment,
): Promise<ProcessorPayment | undefined> {
  try {
    return await questions[question](deps, processor, payment)
  } catch (error) {
    if (!(error instanceof ProcessorRefused || error instanceof ProcessorUnavailable)) throw error
    // A payment that it would not begin has ended, and one that it never began needs no voiding.
    if (error instanceof ProcessorRefused && question === 'create') return refusal(payment, 'FAILED', error)
    if (error instanceof ProcessorRefused && question === 'void' && error.code === 'not_found') return refusal(payment, 'VOIDED', error)
    deps.log.warn('payment.no_answer', { payment: payment.id, processor: processor.name, question, error })
    if (question === 'ask') return undefined
    // Any other answer may have been lost after it happened, or come after something else had: the processor knows.
    return found(deps, processor, payment)
  }
}

/**
 * Asks what became of a payment, whatever state we know it in, and notes it.
 * @throws ProcessorUnavailable when it does not say: whoever told us to ask may tell us again
 */
export async function noteWhatBecame(deps: OrderDeps, processor: Processor, payment: Payment): Promise<void> {
  const answer = await found(deps, processor, payment)
  if (!answer) throw new ProcessorUnavailable('the processor does not know the payment, or does not answer')
  await noteAnswer(deps, payment.id, answer)
}

/** What a processor says of a payment now; undefined when it does not say. */
async function found(deps: OrderDeps, processor: Processor, payment: Payment): Promise<ProcessorPayment | undefined> {
  try {
    return await processor.find(nameOf(payment))
  } catch (error) {
    if (!(error instanceof ProcessorRefused || error instanceof ProcessorUnavailable)) throw error
    deps.log.warn('payment.no_answer', { payment: payment.id, processor: processor.name, question: 'ask', error })
    return undefined
  }
}

const questions: Record<Question, (deps: OrderDeps, processor: Processor, payment: Payment) => Promise<ProcessorPayment | undefined>> = {
  create: ({ keyring }, processor, { id, amount, currency, sealedToken, returnUrl }) =>
    processor.create({
      paymentId: id,
      amount,
      currency,
      token: sealedToken === null ? undefined : keyring.unseal(sealedToken, paymentTokenSeal(id)),
      returnUrl: returnUrl ?? undefined,
    }),
  ask: (_, processor, payment) => processor.find(nameOf(payment)),
  capture: (_, processor, payment) => processor.capture({ ...nameOf(payment), amount: payment.amount, currency: payment.currency }),
  void: (_, processor, payment) => processor.void(nameOf(payment)),
}

const refusal = (payment: Payment, state: 'FAILED' | 'VOIDED', { code }: ProcessorRefused): ProcessorPayment => ({
  reference: payment.processorReference ?? payment.id,
  state,
  authorized: 0,
  captured: 0,
  failureCode: code,
})

const stillOpen = paymentStatuses.filter((status) => isUnderWay({ status }))

/**
 * Writes down what a processor says of a payment. Said twice, late or in another order, it leads to the same: a payment only
 * ever moves on, money counts once, and money that nobody waits for any more goes back.
 */
export async function noteAnswer(deps: OrderDeps, paymentId: string, answer: ProcessorPayment): Promise<void> {
  const note = noteOf(deps, answer)
  const refund = await deps.db.write(async (tx) => {
    const payment = await deps.orderStore.getPayment(tx, paymentId)
    const order = payment && (await deps.orderStore.get(tx, payment.orderId))
    if (!payment || !order) return undefined
    if (answer.captured > payment.captured) return note.capture(tx, order, payment)
    if (answer.captured > 0) return undefined
    if (isUnderWay(payment)) await note.progress(tx, order, payment)
    return undefined
  })
  if (refund) await settleRefund(deps, refund.id)
}

/** The ways to write an answer down; ids and the time are fixed when they are prepared. */
function noteOf(deps: OrderDeps, answer: ProcessorPayment) {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  const refundId = deps.newId('refund')
  const event = eventOf(deps, '', '')
  const tell = (tx: Writer, order: Order, type: string, detail: Record<string, string | number>) =>
    store.appendEvent(tx, { ...event, orderId: order.id, type, detail })
  // Once it has a name for the payment, the processor needs nothing more of us to begin it.
  const seen = { processorReference: answer.reference, sealedToken: null, updatedAt: now }
  const parameters = answer.clientParameters ? { clientParameters: { ...answer.clientParameters } } : {}

  /** The money is there: the order is paid, or it is money that nobody waits for (any more, or not this much), and goes back. */
  async function capture(tx: Writer, order: Order, payment: Payment): Promise<Refund | undefined> {
    const { captured } = answer
    const more = captured - payment.captured
    const isAwaited = order.status === 'PENDING_PAYMENT' && isUnderWay(payment)
    // A part of it: the rest may come yet, and what was authorized is given up when the order's time is over.
    if (isAwaited && captured < payment.amount) return undefined
    const taken = { ...seen, captured, authorized: Math.max(answer.authorized, captured), clientParameters: {} }
    if (isAwaited && captured === payment.amount) {
      await store.changePayment(tx, payment.id, stillOpen, { ...taken, status: 'CAPTURED' })
      await store.change(tx, order.id, ['PENDING_PAYMENT'], {
        status: 'PAID',
        paymentStatus: 'CAPTURED',
        capturedTotal: captured,
        resumeAt: now + resumeAfterMs,
        updatedAt: now,
      })
      await store.stepsDone(tx, order.id, ['AUTHORIZE', 'CAPTURE'], now)
      await tell(tx, order, 'PAYMENT_CAPTURED', { payment: payment.id, processor: payment.processor, amount: captured })
      return undefined
    }
    // An order that ended unpaid shows the money that came and went; one that waits for another payment, or had one, does not.
    const counts = (order.status === 'EXPIRED' || order.status === 'CANCELLED') && order.confirmedAt === null
    const ended = isUnderWay(payment) ? { status: counts ? ('CAPTURED' as const) : ('FAILED' as const) } : {}
    await store.changePayment(tx, payment.id, [payment.status], { ...taken, ...ended })
    if (counts) await store.change(tx, order.id, [order.status], { capturedTotal: order.capturedTotal + more, updatedAt: now })
    else if (isUnderWay(payment))
      await store.change(tx, order.id, ['PENDING_PAYMENT'], { paymentStatus: 'FAILED', resumeAt: null, updatedAt: now })
    await tell(tx, order, 'LATE_CAPTURE', { payment: payment.id, processor: payment.processor, amount: more })
    const refund = newRefund(deps, order, {
      id: refundId,
      purpose: counts ? 'COMPENSATE' : 'LATE_CAPTURE',
      attemptKey: `late:${payment.id}:${captured}`,
      payment,
      parts: { amount: more, giftCardAmount: 0, giftCards: [] },
    })
    await store.insertRefund(tx, refund)
    return refund
  }

  /** Everything else than money. */
  async function progress(tx: Writer, order: Order, payment: Payment): Promise<void> {
    const details = { payment: payment.id, processor: payment.processor }
    switch (answer.state) {
      case 'PENDING':
        await store.changePayment(tx, payment.id, ['PENDING'], { ...seen, ...parameters })
        return
      case 'REQUIRES_ACTION':
        // The shopper is at work now: nobody needs to look before they come back, a message arrives or the order expires.
        if (answer.clientParameters) await store.changePayment(tx, payment.id, ['REQUIRES_ACTION'], { ...seen, ...parameters })
        if (await store.changePayment(tx, payment.id, ['PENDING'], { ...seen, ...parameters, status: 'REQUIRES_ACTION' })) {
          await store.change(tx, order.id, ['PENDING_PAYMENT'], { resumeAt: null, updatedAt: now })
          await tell(tx, order, 'PAYMENT_REQUIRES_ACTION', details)
        }
        return
      case 'AUTHORIZED':
        if (order.status !== 'PENDING_PAYMENT') return
        if (
          await store.changePayment(tx, payment.id, ['PENDING', 'REQUIRES_ACTION'], {
            ...seen,
            status: 'AUTHORIZED',
            authorized: answer.authorized,
          })
        ) {
          await store.change(tx, order.id, ['PENDING_PAYMENT'], {
            paymentStatus: 'AUTHORIZED',
            resumeAt: now + resumeAfterMs,
            updatedAt: now,
          })
          await store.stepsDone(tx, order.id, ['AUTHORIZE'], now)
          await tell(tx, order, 'PAYMENT_AUTHORIZED', { ...details, amount: answer.authorized })
        }
        return
      case 'FAILED':
      case 'VOIDED':
        await end(tx, order, payment, details)
        return
      case 'CAPTURED':
        // Without an amount it is no capture.
        return
    }
  }

  async function end(tx: Writer, order: Order, payment: Payment, details: Record<string, string>): Promise<void> {
    const failureCode = answer.failureCode ?? null
    const status = answer.state === 'VOIDED' ? 'VOIDED' : 'FAILED'
    if (!(await store.changePayment(tx, payment.id, stillOpen, { ...seen, clientParameters: {}, status, failureCode }))) return
    // It may be paid again under a new key; until then it waits, and gives its stock back when its time is over.
    await store.change(tx, order.id, ['PENDING_PAYMENT'], { paymentStatus: 'FAILED', resumeAt: null, updatedAt: now })
    if (order.confirmedAt === null) await store.change(tx, order.id, ['EXPIRED', 'CANCELLED'], { paymentStatus: status, updatedAt: now })
    await tell(tx, order, `PAYMENT_${status}`, { ...details, ...(failureCode === null ? {} : { code: failureCode }) })
  }

  return { capture, progress }
}
