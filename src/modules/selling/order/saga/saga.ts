import { isDatabaseAway } from '../../../../../db/engine.ts'
import { type Actor, locking, system } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { leaseMs, noLease } from '../../../../core/leases.ts'
import { audit } from '../../../operations/audit/index.ts'
import { hasFailed, isLost, isManualPayment, isOpenPayment, isUnknownToProcessor } from '../../../payments/payment/domain.ts'
import { endLeases, paymentsWithin, takeQueryTurn } from '../../../payments/payment/index.ts'
import {
  backoffMs,
  confirmAttemptsMax,
  nextStep,
  type Order,
  paymentOf,
  pollAt,
  type Saga,
  type SagaStep,
  undecidedQueriesMax,
} from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import { notifyCancelled } from '../refunds/refund-effects.ts'
import { refundExcess, settleRefund } from '../refunds/refunds.ts'
import { readOrderContents, recordSale, releaseHolds } from './confirm-order.ts'
import { failOverPayment } from './fail-over.ts'
import { abandonUnresolvedPayment, acceptPayment, advancePayment } from './order-payments.ts'
import { newSagaContext, type SagaContext, type SagaRun } from './saga-context.ts'

/** No saga needs this many. More means an endless loop. */
const stepsMax = 20

/**
 * Advances an order: the only path for the checkout, a returning shopper, a webhook and the job. Each step is a write
 * of its own, which only one run can win. The run ends when nothing is left to do, or the processor does not answer;
 * then the job continues.
 * @param start the order as this run left it; it is read otherwise
 * @param isStateKnown whether the processor has just reported the payment's state
 * @returns the saga afterwards
 * @throws AppError NOT_FOUND
 */
export async function runSaga(
  deps: OrderDeps,
  orderId: string,
  context: SagaContext = newSagaContext(deps),
  start?: SagaRun,
  isStateKnown = false,
): Promise<SagaRun> {
  let saga = start ?? (await loadSaga(deps, orderId))
  let isQueried = isStateKnown
  const givenUp = new Set<string>()
  for (let steps = 0; steps < stepsMax; steps++) {
    const now = deps.clock.now()
    const step = nextStep(saga, now)
    // A second query in a row would get the same answer.
    const isRepeated = (step.kind === 'ask' && isQueried) || (step.kind === 'void' && givenUp.has(step.payment.id))
    if (step.kind === 'rest' || isRepeated) return endRun(deps, saga, step, context)
    if (context.deadline !== undefined && now >= context.deadline && 'payment' in step) return scheduleResume(deps, saga, now)
    isQueried ||= step.kind === 'ask'
    if (step.kind === 'void') givenUp.add(step.payment.id)
    const after = await executeStep(deps, saga, step, context)
    if (!after) return loadSaga(deps, orderId)
    saga = after
    // The answer to a create or a capture reports the state, unless it is undecided.
    isQueried ||= (step.kind === 'create' || step.kind === 'capture') && paymentOf(saga)?.status !== 'PENDING'
  }
  throw new Error('the saga of an order does not come to rest')
}

/**
 * Advances an order whose exact state is needed (the shopper returned, a new payment starts, it expires). If its last
 * payment failed, the processor is queried too: the shopper may have paid again on the same page.
 */
export async function refreshSaga(deps: OrderDeps, orderId: string, context: SagaContext): Promise<Saga> {
  const saga = await runSaga(deps, orderId, context)
  const last = paymentOf(saga)
  if (saga.order.status !== 'PENDING_PAYMENT' || !last || !hasFailed(last) || last.processorReference === null) return saga
  const after = await advancePayment(deps, 'ask', last, context)
  return after === 'unanswered' || after === 'taken' ? saga : runSaga(deps, orderId, context, after)
}

/**
 * Advances the order of a returning shopper, at most once in two seconds. In between, and when nothing is left to do,
 * it only reads it.
 */
export async function refreshSagaOnReturn(deps: OrderDeps, orderId: string, context: SagaContext): Promise<Saga> {
  const saga = await loadSaga(deps, orderId)
  if (saga.order.status !== 'PENDING_PAYMENT' && saga.order.resumeAt === null) return saga
  const payment = paymentOf(saga)
  return !payment || (await takeQueryTurn(deps, payment)) ? refreshSaga(deps, orderId, context) : saga
}

/**
 * Voids the payment that could still pay a waiting order: an open one, or a failed one that can be retried on the same
 * page.
 * @returns the order afterwards; `unanswered` while it may still be paid, `taken` while another run holds the payment
 */
export async function voidOpenPayment(deps: OrderDeps, saga: Saga, context: SagaContext): Promise<Saga | 'unanswered' | 'taken'> {
  const last = paymentOf(saga)
  if (saga.order.status !== 'PENDING_PAYMENT' || !last || last.status === 'VOIDED' || isUnknownToProcessor(last)) return saga
  if (isLost(last)) return 'unanswered'
  if (context.deadline !== undefined && deps.clock.now() >= context.deadline) return 'unanswered'
  const after = await advancePayment(deps, 'void', last, context)
  // A retry in a moment must not wait for this lease.
  if (after === 'unanswered') await deps.db.write((tx) => endLeases(tx, deps, saga.order.id, context.holder), locking)
  return typeof after === 'string' ? after : runSaga(deps, saga.order.id, context, after)
}

/** @throws AppError NOT_FOUND */
export async function loadSaga({ orderStore }: OrderDeps, orderId: string): Promise<SagaRun> {
  const saga = await orderStore.saga(orderId)
  if (!saga) throw new AppError('NOT_FOUND', 'No such order')
  return saga
}

/** Ends a run. No time is set, unless the processor owes an answer or the shopper is paying. */
async function endRun(deps: OrderDeps, saga: SagaRun, step: SagaStep, context: SagaContext): Promise<SagaRun> {
  const { order } = saga
  if (step.kind === 'ask' && step.payment.status === 'PENDING') return handleUndecided(deps, saga, context)
  const now = deps.clock.now()
  // Also for an ended order: an undecided payment may still be captured, and is then refunded.
  const undecidedYet = saga.payments.find((payment) => isOpenPayment(payment) && !isLost(payment) && !isManualPayment(payment))
  // The job that expires the order voids its payment.
  if (undecidedYet && order.status === 'PENDING_PAYMENT' && order.expiresAt <= now) return saga
  const isPolled = order.resumeAt !== null && order.resumeAt > now
  const resumeAt = undecidedYet ? (isPolled ? order.resumeAt : pollAt(undecidedYet, order, now)) : null
  if (order.resumeAt === resumeAt) return saga
  const changed = await deps.db.write((tx) => deps.orderStore.setResumeAt(tx, order, resumeAt, now), locking)
  return changed ? { ...saga, order: changed } : loadSaga(deps, order.id)
}

/** Queries an undecided processor a few times more, then voids the payment. */
async function handleUndecided(deps: OrderDeps, saga: Saga, context: SagaContext): Promise<Saga> {
  const attempts = await postpone(deps, saga, context)
  const payment = paymentOf(saga)
  if (attempts >= undecidedQueriesMax && payment) await advancePayment(deps, 'void', payment, context)
  return loadSaga(deps, saga.order.id)
}

/** Makes the job look at an order by `at`. */
async function scheduleResume(deps: OrderDeps, saga: Saga, at: number): Promise<Saga> {
  const { id, status, resumeAt } = saga.order
  const now = deps.clock.now()
  if (resumeAt !== null && resumeAt > now && resumeAt <= at) return saga
  await deps.db.write((tx) => deps.orderStore.change(tx, id, [status], { resumeAt: at, updatedAt: now }), locking)
  return loadSaga(deps, id)
}

/** Takes one step. Returns undefined if it is not possible now; the job then tries again. */
async function executeStep(
  deps: OrderDeps,
  saga: SagaRun,
  step: Exclude<SagaStep, { kind: 'rest' }>,
  context: SagaContext,
): Promise<SagaRun | undefined> {
  const { order } = saga
  switch (step.kind) {
    case 'create':
    case 'ask':
    case 'capture':
    case 'void': {
      const after = await advancePayment(deps, step.kind, step.payment, context, saga)
      if (after === 'taken') {
        await scheduleResume(deps, saga, deps.clock.now() + leaseMs)
        return undefined
      }
      // An answer that does not change the next step is ignored, or the saga would loop.
      const isFinal = step.kind === 'ask' || hasFailed(step.payment)
      if (after !== 'unanswered' && (isFinal || nextStep(after, deps.clock.now()).kind !== step.kind)) return after
      const failedOver = step.kind === 'create' ? await failOverPayment(deps, saga, step.payment, context) : undefined
      if (failedOver) return failedOver
      const attempts = await postpone(deps, saga, context)
      if (step.kind === 'create' && attempts >= undecidedQueriesMax) await advancePayment(deps, 'void', step.payment, context)
      return undefined
    }
    case 'abandon':
      await abandonUnresolvedPayment(deps, step.payment)
      return loadSaga(deps, order.id)
    case 'accept':
      return acceptPayment(deps, step.payment, context)
    case 'confirm':
      return confirmOrder(deps, saga, context)
    case 'release':
      await deps.db.write(async (tx) => {
        const current = await deps.orderStore.lock(tx, order.id)
        if (current) await releaseHolds(tx, deps, current)
      }, locking)
      return loadSaga(deps, order.id)
    case 'endCompensation':
      return endCompensation(deps, saga, context)
  }
}

/** Records a failure and the next attempt. Returns the failures in a row; 0 if this one does not count. */
async function postpone(deps: OrderDeps, { order }: Saga, context: SagaContext): Promise<number> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  // Only the job's attempts count: a shopper who polls must not use up the processor's attempts.
  const counts = order.attempts === 0 || order.resumeAt === null || order.resumeAt <= now
  return deps.db.write(async (tx) => {
    const current = counts ? await store.lock(tx, order.id) : undefined
    const failed = current && (await store.countFailure(tx, current, now + backoffMs(current.attempts + 1), now))
    await endLeases(tx, deps, order.id, context.holder)
    return failed?.attempts ?? 0
  }, locking)
}

/** Confirms an order that is paid or needs no payment. A failure is retried, and finally the money is refunded. */
async function confirmOrder(deps: OrderDeps, saga: Saga, context: SagaContext): Promise<SagaRun | undefined> {
  const { order } = saga
  const confirm = (response: SagaContext['response']) =>
    deps.db.write(async (tx) => {
      const { payments } = saga
      const [current, parts] = await Promise.all([deps.orderStore.lock(tx, order.id), readOrderContents(tx, deps, order.id)])
      if (current?.status === 'PAID') return recordSale(tx, deps, { order: current, payments, parts }, response)
      // A waiting order is confirmed here only if nothing is due.
      if (current?.status !== 'PENDING_PAYMENT') return undefined
      await appendEvent(tx, deps, { orderId: order.id, type: 'NOTHING_TO_PAY' })
      return recordSale(tx, deps, { order: current, payments, parts, capturedTotal: 0 }, response)
    }, locking)
  try {
    return await confirm(context.response).catch((error: unknown) => {
      if (isDatabaseAway(error) || !context.response) throw error
      // The order continues even if the response cannot be stored.
      return confirm(undefined)
    })
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    deps.log.error('order.not_confirmed', { order: order.id, error })
    const attempts = await postpone(deps, saga, context)
    if (attempts >= confirmAttemptsMax)
      await compensate(deps, order, { actor: system, reason: 'The order could not be completed', context })
    return undefined
  }
}

/**
 * Reverses a paid order: refunds its money and releases its holds.
 * @returns false when the order is not PAID any more
 */
export async function compensate(
  deps: OrderDeps,
  { id: orderId, shopId }: Pick<Order, 'id' | 'shopId'>,
  { actor, reason, context }: { actor: Actor; reason: string | null; context: SagaContext },
): Promise<boolean> {
  return deps.db.write(async (tx) => {
    const now = deps.clock.now()
    const order = await deps.orderStore.move(tx, orderId, ['PAID'], 'COMPENSATING', { attempts: 0, resumeAt: now, updatedAt: now })
    if (!order) return false
    await appendEvent(tx, deps, { orderId, type: 'COMPENSATING', detail: reason === null ? {} : { reason }, actor: actor.id })
    const difference = { before: { status: 'PAID' }, after: { status: 'COMPENSATING' } }
    await audit(tx, deps, { actor, action: 'order.compensated', subject: orderId, shopId, ...difference })
    const payments = await paymentsWithin(tx, deps, orderId)
    const refunds = await refundExcess(tx, deps, { order, payments }, context.holder, { reason, actor: actor.id })
    // The step that ends the compensation sends them.
    for (const { id } of refunds) await deps.orderStore.changeRefund(tx, id, ['PENDING'], { sentAt: null, resumeAt: now, ...noLease })
    return true
  }, locking)
}

/** Refunds the money of a reversed order, then cancels it. */
async function endCompensation(deps: OrderDeps, saga: Saga, context: SagaContext): Promise<Saga | undefined> {
  const { orderStore: store } = deps
  const { order } = saga
  for (const refund of await store.refundsOf(deps.db.read, order.id)) {
    // A retry of a failed refund has its own time.
    const isLater = refund.sentAt === null && (refund.resumeAt ?? 0) > deps.clock.now()
    const settled = refund.status === 'PENDING' && !isLater ? await settleRefund(deps, refund.id, context) : refund
    if (settled.status !== 'PENDING') continue
    await postpone(deps, saga, context)
    return undefined
  }
  const isOver = await deps.db.write(async (tx) => {
    await store.lock(tx, order.id)
    // A retry may have replaced a failed refund since.
    if ((await store.refundsOf(tx, order.id)).some(({ status }) => status === 'PENDING')) return false
    const ended = { attempts: 0, resumeAt: null, updatedAt: deps.clock.now() }
    if (!(await store.move(tx, order.id, ['COMPENSATING'], 'CANCELLED', ended))) return true
    await appendEvent(tx, deps, { orderId: order.id, type: 'CANCELLED' })
    await notifyCancelled(tx, deps, { order, reason: null })
    return true
  }, locking)
  if (isOver) return loadSaga(deps, order.id)
  await postpone(deps, saga, context)
  return undefined
}
