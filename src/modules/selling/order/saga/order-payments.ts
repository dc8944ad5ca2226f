import { isDatabaseAway, NothingChanged, type Writer } from '../../../../../db/engine.ts'
import { inLine, locking } from '../../../../core/command-context.ts'
import {
  canMoveTo,
  hasFailed,
  isOpenPayment,
  isPaidAfterEnding,
  type Payment,
  type PaymentStatus,
} from '../../../payments/payment/domain.ts'
import {
  abandonPayment,
  captureFields,
  lockPaymentsAsKnown,
  type PaymentAnswer,
  paymentsWithin,
  type Question,
  recordCapture,
  recordNames,
  recordPaymentProgress,
  requestProcessor,
  returnLease,
} from '../../../payments/payment/index.ts'
import {
  endedWithoutSale,
  isUnwanted,
  type Order,
  type OrderEvent,
  pendingPaymentMs,
  pollAt,
  processingMs,
  type Refund,
  resumeAfterMs,
  type Saga,
} from '../domain.ts'
import { appendEvent, appendEvents } from '../events.ts'
import { mailPaymentFailed } from '../mails.ts'
import type { OrderDeps } from '../providers.ts'
import { syncRefunds } from '../refunds/external-refunds.ts'
import { paymentStatusAfterRefund } from '../refunds/refund-effects.ts'
import { refundExcess, settleRefund } from '../refunds/refunds.ts'
import { confirm, paidOrderFields, readOrderContents } from './confirm-order.ts'
import type { Made, OrderContents, SagaContext } from './saga-context.ts'

/**
 * Asks a payment's processor, and notes what it says on the payment and its order.
 * @returns the order as it is then; `silent` when nothing was said that can be relied on, or the payment may still be paid although it was
 *   to be given up; `taken` while somebody else is asking: then nothing has changed
 */
export async function askPayment(
  deps: OrderDeps,
  question: Question,
  payment: Payment,
  context: SagaContext,
): Promise<Saga | 'silent' | 'taken'> {
  const isNew = question === 'create' && context.unsent.delete(payment.id)
  const asked = await requestProcessor(deps, question, payment, {
    holder: context.holder,
    isNew,
    patienceMs: patienceOf(deps, question, context),
  })
  if (asked === 'silent' || asked === 'taken') return asked
  if (question !== 'void') return handleAnswer(deps, payment, asked.answer, context)
  const after = await recordAnswer(deps, payment, asked.answer, context, { isGivenUp: true })
  return stillOpenAtProcessor(after, payment, asked.answer) ? 'silent' : after
}

const patienceOf = ({ failOver }: OrderDeps, question: Question, context: SagaContext): number | undefined => {
  // Whoever waits for an answer of ours hears how things stand; the job asks on.
  const isAsked = (question === 'ask' || question === 'void') && context.until !== undefined
  return isAsked || (question === 'create' && (hasFallback(context) || context.hasFallenBack)) ? failOver.patienceMs : undefined
}

/** Whether there is another processor that may be asked in the place of one that does not begin a payment. */
export const hasFallback = ({ fallbacks }: SagaContext): boolean => fallbacks !== undefined && fallbacks.length > 0

/**
 * Notes an answer. Where it says that a payment can be paid which has ended here, and whose money nobody waits for, its processor is told
 * to give it up.
 * @returns the order as it is then; `silent` when it would not be given up
 */
export async function handleAnswer(
  deps: OrderDeps,
  payment: Payment,
  answer: PaymentAnswer,
  context: SagaContext,
): Promise<Saga | 'silent'> {
  const after = await recordAnswer(deps, payment, answer, context)
  await syncRefunds(deps, payment, answer)
  const ended = stillOpenAtProcessor(after, payment, answer)
  if (!ended || !isUnwanted(after, ended, deps.clock.now())) return after
  const given = await askPayment(deps, 'void', ended, context)
  // Whoever has it gives it up as well.
  return given === 'taken' ? after : given
}

/** A payment that has ended here and, as its processor says, not there. */
const stillOpenAtProcessor = ({ payments }: Saga, { id }: Payment, { state }: PaymentAnswer): Payment | undefined =>
  isOpenPayment({ status: state }) ? payments.find((one) => one.id === id && hasFailed(one)) : undefined

type Noted = { saga: Saga; refunds: readonly Refund[] }

/**
 * Writes down what a processor says of a payment. Said twice, late or in another order, it leads to the same: a payment only
 * ever moves on, money counts once, and money that nobody waits for goes back. Money that makes an order paid makes it a sale in the same write.
 */
export async function recordAnswer(
  deps: OrderDeps,
  payment: Payment,
  answer: PaymentAnswer,
  context: SagaContext,
  { isGivenUp = false }: { isGivenUp?: boolean } = {},
): Promise<Saga> {
  const note = (mayConfirm: boolean) =>
    deps.db.write((tx) => recordInWrite(tx, deps, { payment, answer, context, isGivenUp, mayConfirm }), locking)
  const made = context.made?.order.id === payment.orderId ? context.made : undefined
  // Of what needs not be read the write is one round trip.
  const quick = made && (await recordOnPlacedOrder(deps, made, { payment, answer, context, isGivenUp, mayConfirm: true }))
  if (quick) return quick
  const { saga, refunds } = await note(true).catch((error: unknown) => {
    if (isDatabaseAway(error)) throw error
    // Whatever keeps it from becoming a sale, that its money is there must not get lost.
    deps.log.error('order.not_confirmed', { order: payment.orderId, payment: payment.id, processor: payment.processor, error })
    return note(false)
  })
  for (const { id } of refunds) await settleRefund(deps, id, context, { isNew: true })
  return saga
}

/** As `recordAnswer`, of an order that this run has made. Undefined, with nothing done, where that cannot be, as where somebody else has had it meanwhile. */
async function recordOnPlacedOrder(deps: OrderDeps, made: Made, answered: Answered): Promise<Saga | undefined> {
  const { context, payment } = answered
  context.made = undefined
  if (made.payments.length !== 1 || made.payments[0]?.id !== payment.id || answered.answer.captured > payment.amount) return undefined
  try {
    return await deps.db.write(
      async (tx) => {
        // An authorization changes both rows, which find out by that whether they are as they are known. All have the order first.
        const changesOrder = answered.answer.state === 'AUTHORIZED' && answered.answer.captured === 0
        if (!changesOrder) await deps.orderStore.lockAsKnown(tx, made.order)
        const trail = [...made.events]
        const { saga, refunds } = await applyAnswer(tx, deps, { ...answered, saga: made, parts: made, trail })
        if (saga.payments[0] === made.payments[0]) await lockPaymentsAsKnown(tx, deps, made.payments)
        if (changesOrder && saga.order === made.order) throw new NothingChanged('an order that is not changed is locked first')
        if (refunds.length > 0) throw new NothingChanged('money that goes back is read first')
        tx.afterCommit(() => {
          context.made = { ...made, ...saga, events: trail }
        })
        return saga
      },
      inLine(answered.answer.captured > 0 ? 'take' : 'note', made.order.shopId),
    )
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    return undefined
  }
}

/** `isGivenUp`: it was asked to take no money any more. */
type Answered = { payment: Payment; answer: PaymentAnswer; context: SagaContext; isGivenUp: boolean; mayConfirm: boolean }

async function recordInWrite(tx: Writer, deps: OrderDeps, answered: Answered): Promise<Noted> {
  const { payment, answer, mayConfirm } = answered
  const mayBeSold = mayConfirm && answer.captured > payment.captured
  const [saga, parts] = await Promise.all([
    lockSaga(tx, deps, payment.orderId),
    mayBeSold ? readOrderContents(tx, deps, payment.orderId) : undefined,
  ])
  return applyAnswer(tx, deps, { ...answered, saga, parts })
}

/** `parts`: undefined, it is not made a sale in this write; `trail`: see `Sale`. */
type NotedOn = Answered & { saga: Saga; parts: OrderContents | undefined; trail?: OrderEvent[] }

/** @param noted its `saga` as it stands, locked by this write */
async function applyAnswer(
  tx: Writer,
  deps: OrderDeps,
  { payment: { id }, answer, context, isGivenUp, saga, parts, trail }: NotedOn,
): Promise<Noted> {
  const payment = saga.payments.find((one) => one.id === id)
  if (!payment) throw new Error('a payment without its order')
  const about = { saga, payment, answer, context, isGivenUp, trail }
  if (answer.captured <= payment.captured) return { saga: await applyWithoutMoney(tx, deps, about), refunds: [] }
  if (saga.order.status !== 'PENDING_PAYMENT') {
    const after = await recordLateCapture(tx, deps, about)
    return { saga: after, refunds: await refundExcess(tx, deps, after, context.holder) }
  }
  const othersAreLive = saga.payments.some((one) => one.id !== id && isOpenPayment(one))
  if (answer.captured < payment.amount || othersAreLive) {
    const after = await recordPartialCapture(tx, deps, about)
    const part = after.payments.find((one) => one.id === id)
    // The rest may be held for us, on one that had failed.
    return {
      saga: part && hasFailed(part) ? await applyWithoutMoney(tx, deps, { ...about, saga: after, payment: part }) : after,
      refunds: [],
    }
  }
  return paid(tx, deps, about, parts)
}

/** Of a payment that has ended, nothing counts but that its money is held for us after all: then it is under way again. */
async function applyWithoutMoney(tx: Writer, deps: OrderDeps, about: About): Promise<Saga> {
  const { saga, payment, answer, context, trail } = about
  const mayStillPay = answer.state === 'AUTHORIZED' || answer.state === 'PROCESSING'
  const goesOn = isOpenPayment(payment) || (mayStillPay && !isUnwanted(saga, payment, deps.clock.now()))
  if (goesOn) return progress(tx, deps, about)
  return withPayment(saga, await returnLease(tx, deps, { payment, holder: context.holder, isKnown: trail !== undefined }), undefined)
}

/** An order and its payments as they stand, in a write that has them to itself from then on. */
async function lockSaga(tx: Writer, deps: OrderDeps, orderId: string): Promise<Saga> {
  const [order, payments] = await Promise.all([deps.orderStore.lock(tx, orderId), paymentsWithin(tx, deps, orderId)])
  if (!order) throw new Error('an order is gone')
  return { order, payments }
}

type About = {
  saga: Saga
  payment: Payment
  answer: PaymentAnswer
  context: SagaContext
  isGivenUp?: boolean
  trail?: OrderEvent[] | undefined
}

const withPayment = ({ order, payments }: Saga, after: Payment, changed: Order | undefined): Saga => ({
  order: changed ?? order,
  payments: payments.map((one) => (one.id === after.id ? after : one)),
})

/**
 * The order's money is there: it is paid, and a sale. What came besides (of another payment, or too much) goes back.
 * @param parts of the order; undefined: it is not made a sale in this write
 */
async function paid(
  tx: Writer,
  deps: OrderDeps,
  { saga, payment, answer, context, trail }: About,
  parts: OrderContents | undefined,
): Promise<Noted> {
  const { order } = saga
  const { id, amountDue } = order
  const updatedAt = deps.clock.now()
  const noted = { payment, answer, holder: context.holder, isKnown: trail !== undefined }
  const taken: Payment = { ...payment, ...captureFields(noted, updatedAt), status: 'CAPTURED', failureCode: null }
  const captured = { type: 'PAYMENT_CAPTURED', detail: { payment: payment.id, processor: payment.processor, amount: amountDue } }
  const { payments } = withPayment(saga, taken, undefined)
  const toResume = { ...paidOrderFields(amountDue), attempts: 0, resumeAt: updatedAt + resumeAfterMs, updatedAt }
  // All of it is sent before any of it is waited for.
  const [, refunds, after] = await Promise.all([
    recordCapture(tx, deps, { ...noted, becomes: 'CAPTURED' }),
    refundExcess(tx, deps, { order: { ...order, ...paidOrderFields(amountDue), status: 'PAID' }, payments }, context.holder),
    parts
      ? confirm(tx, deps, { order, payments, parts, capturedTotal: amountDue, told: [captured], trail }, context)
      : appendEvents(tx, deps, id, [captured])
          .then(() => deps.orderStore.move(tx, id, ['PENDING_PAYMENT'], 'PAID', toResume))
          .then((moved) => moved && { order: moved, payments }),
  ])
  if (!after) throw new Error('an order changed under its lock')
  return { saga: after, refunds }
}

/** Counts the money that had come on a payment after it had ended, now that no other one is under way. */
export async function acceptPayment(deps: OrderDeps, { id, orderId }: Payment, context: SagaContext): Promise<Saga> {
  const { saga, refunds } = await deps.db.write(async (tx): Promise<Noted> => {
    const [found, parts] = await Promise.all([lockSaga(tx, deps, orderId), readOrderContents(tx, deps, orderId)])
    const payment = found.payments.find((one) => one.id === id)
    if (found.order.status !== 'PENDING_PAYMENT' || !payment || found.payments.some(isOpenPayment)) return { saga: found, refunds: [] }
    const { processorReference, authorized, captured } = payment
    const answer = { reference: processorReference ?? id, state: 'CAPTURED', authorized, captured } as const
    return paid(tx, deps, { saga: found, payment, answer, context }, parts)
  }, locking)
  for (const refund of refunds) await settleRefund(deps, refund.id, context, { isNew: true })
  return saga
}

/** A part of the money, or all of it on a payment that had ended while another is under way: the order goes on waiting for the rest. */
async function recordPartialCapture(
  tx: Writer,
  deps: OrderDeps,
  { saga, payment, answer, context: { holder }, trail }: About,
): Promise<Saga> {
  const { order } = saga
  const updatedAt = deps.clock.now()
  const { state, captured } = answer
  const ended = isOpenPayment(payment) && (state === 'FAILED' || state === 'VOIDED') ? state : undefined
  const amount = captured - payment.captured
  const resumeAt = updatedAt + (captured >= payment.amount ? 0 : resumeAfterMs)
  const detail = { payment: payment.id, processor: payment.processor, amount }
  const [after, changed] = await Promise.all([
    recordCapture(tx, deps, { payment, answer, holder, becomes: ended, isKnown: trail !== undefined }),
    deps.orderStore.change(tx, order, ['PENDING_PAYMENT'], { capturedTotal: order.capturedTotal + amount, resumeAt, updatedAt }),
    appendEvent(tx, deps, { orderId: order.id, type: 'PAYMENT_PARTIALLY_CAPTURED', detail }, trail),
  ])
  return withPayment(saga, after, changed)
}

/** Money that nobody waits for any more. An order that came to nothing shows that it came and went; one that was paid otherwise does not. */
async function recordLateCapture(tx: Writer, deps: OrderDeps, { saga, payment, answer, context: { holder }, trail }: About): Promise<Saga> {
  const { order } = saga
  const updatedAt = deps.clock.now()
  const amount = answer.captured - payment.captured
  const counts = endedWithoutSale(order)
  const detail = { payment: payment.id, processor: payment.processor, amount }
  const capturedTotal = order.capturedTotal + amount
  const shown = { capturedTotal, paymentStatus: paymentStatusAfterRefund({ ...order, capturedTotal }), updatedAt }
  const [after, changed] = await Promise.all([
    recordCapture(tx, deps, {
      payment,
      answer,
      holder,
      becomes: isOpenPayment(payment) ? (counts ? 'CAPTURED' : 'FAILED') : undefined,
      isKnown: trail !== undefined,
    }),
    counts ? deps.orderStore.change(tx, order, [order.status], shown) : undefined,
    appendEvent(tx, deps, { orderId: order.id, type: 'LATE_CAPTURE', detail }, trail),
  ])
  return withPayment(saga, after, changed)
}

/** Everything else than money. */
async function progress(tx: Writer, deps: OrderDeps, { saga, payment, answer, context, isGivenUp = false, trail }: About): Promise<Saga> {
  const { order, payments } = saga
  const { state, failureCode } = answer
  const isAwaited = order.status === 'PENDING_PAYMENT'
  const noted = { payment, answer, holder: context.holder, isKnown: trail !== undefined }
  // An authorization for an order that has ended is given up, and never counts.
  if (state === 'AUTHORIZED' && !isAwaited) return withPayment(saga, await recordNames(tx, deps, noted), undefined)
  const updatedAt = deps.clock.now()
  const hasNoReferences = (answer.reference ?? payment.processorReference) === null
  const at = { updatedAt, order, payment, isGivenUp, hasNoReferences, isPaidOtherwise: payments.some(isPaidAfterEnding) }
  const standing = isAwaited ? changeForState(state, at) : changeOfEndedOrder(state, order)
  if (!standing || !canMoveTo(payment.status, state)) return withPayment(saga, await recordPaymentProgress(tx, deps, noted), undefined)
  const detail = {
    payment: payment.id,
    processor: payment.processor,
    ...(state === 'AUTHORIZED' ? { amount: answer.authorized } : failureCode === undefined ? {} : { code: failureCode }),
  }
  const [changed, after] = await Promise.all([
    deps.orderStore.change(tx, trail ? { asKnown: order } : order, [order.status], { ...standing, updatedAt }),
    recordPaymentProgress(tx, deps, noted),
    appendEvent(tx, deps, { orderId: order.id, type: `PAYMENT_${state}`, detail }, trail),
    // A request shows it to the shopper who waits for it.
    isAwaited && state === 'FAILED' && context.until === undefined ? mailPaymentFailed(tx, deps, order) : undefined,
  ])
  return withPayment(saga, after, changed)
}

type Standing = {
  updatedAt: number
  order: Order
  payment: Payment
  isGivenUp: boolean
  /** Its processor has not told a name of it. */
  hasNoReferences: boolean
  isPaidOtherwise: boolean
}

/**
 * When an order is looked at again that a request has in hand. What was said a moment ago stays: the time is in an index, and the row of a change
 * that touches none is written beside the one before, without an entry in any of the others.
 */
const resumeTimeFor = (resumeAt: number | null, now: number): number =>
  resumeAt !== null && resumeAt > now + resumeAfterMs / 2 && resumeAt <= now + resumeAfterMs ? resumeAt : now + resumeAfterMs

/** What an order that waits shows of its payment, and when it is looked at again. */
function changeForState(
  state: PaymentStatus,
  { updatedAt, order, payment, isGivenUp, hasNoReferences, isPaidOtherwise }: Standing,
): Partial<Order> | undefined {
  const { expiresAt } = order
  switch (state) {
    case 'REQUIRES_ACTION':
      // The shopper is at work now. Should their tab be closed and the message lost, somebody looks all the same.
      return { attempts: 0, resumeAt: pollAt({ ...payment, status: state }, order, updatedAt) }
    case 'AUTHORIZED':
      return { paymentStatus: 'AUTHORIZED', attempts: 0, resumeAt: resumeTimeFor(order.resumeAt, updatedAt) }
    case 'PROCESSING': {
      const asked = { ...payment, status: state }
      // What was given up is not waited for, and what nobody can ask about no longer than for any other.
      if (isGivenUp) return { attempts: 0, resumeAt: pollAt(asked, order, updatedAt) }
      if (hasNoReferences) return { paymentStatus: 'PROCESSING', attempts: 0, resumeAt: null }
      const until = { expiresAt: Math.max(expiresAt, payment.createdAt + processingMs) }
      return { ...until, paymentStatus: 'PROCESSING', attempts: 0, resumeAt: pollAt(asked, until, updatedAt) }
    }
    case 'FAILED':
    case 'VOIDED': {
      // It may be paid again under a new key; until then it waits, and gives its stock back when its time is over.
      const soon = Math.min(expiresAt, updatedAt + pendingPaymentMs)
      return { paymentStatus: 'FAILED', attempts: 0, expiresAt: soon, resumeAt: isPaidOtherwise ? updatedAt : null }
    }
    case 'PENDING':
    case 'CAPTURED':
      return undefined
  }
}

/** What an order that has ended shows of a payment that ends after it: nothing new where it was a sale, or a part came, which went back. */
const changeOfEndedOrder = (state: PaymentStatus, { confirmedAt, capturedTotal }: Order): Partial<Order> | undefined =>
  state === 'FAILED' || state === 'VOIDED' ? (confirmedAt === null && capturedTotal === 0 ? { paymentStatus: state } : {}) : undefined

/** Ends a payment that nobody waits for, and whose processor does not say what became of it. Where it has a name there, it is asked about for a while. */
export async function abandonUnresolvedPayment(deps: OrderDeps, { id, orderId }: Payment): Promise<void> {
  await deps.db.write(async (tx) => {
    const { order, payments } = await lockSaga(tx, deps, orderId)
    const payment = payments.find((one) => one.id === id)
    const ended = payment && (await abandonPayment(tx, deps, payment, { isWatched: payment.processorReference !== null }))
    const shown = ended && changeOfEndedOrder('FAILED', order)
    if (shown) await deps.orderStore.change(tx, order, [order.status], { ...shown, updatedAt: deps.clock.now() })
  }, locking)
}
