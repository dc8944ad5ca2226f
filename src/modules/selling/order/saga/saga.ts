import { isDatabaseAway } from '../../../../../db/engine.ts'
import { type Actor, locking, system } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { leaseMs, noLease } from '../../../../core/leases.ts'
import { audit } from '../../../operations/audit/index.ts'
import { hasFailed, isLost, isOpenPayment, isUnknownToProcessor } from '../../../payments/payment/domain.ts'
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
  undecidedAsksMax,
} from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import { notifyCancelled } from '../refunds/refund-effects.ts'
import { refundExcess, settleRefund } from '../refunds/refunds.ts'
import { confirm, readOrderContents, release } from './confirm-order.ts'
import { failOverPayment } from './fail-over.ts'
import { abandonUnresolvedPayment, acceptPayment, askPayment } from './order-payments.ts'
import { newSagaContext, type SagaContext } from './saga-context.ts'

/** Far more than any saga makes: a loop that does not end is a mistake of ours. */
const stepsMax = 20

/**
 * The one path that takes an order on, whoever asks for it: the checkout, the shopper who comes back, a processor's message, the
 * job after a crash. It makes one move after another, each in a write of its own that only one of many can make, until
 * there is nothing left to do or the processor does not answer; then the job tries again.
 * @param known the order as this run has just made it
 * @param isSaid whether the processor has just said how its payment stands
 * @returns the saga as it is then
 * @throws AppError NOT_FOUND
 */
export async function runSaga(
  deps: OrderDeps,
  orderId: string,
  context: SagaContext = newSagaContext(deps),
  known?: Saga,
  isSaid = false,
): Promise<Saga> {
  let saga = known ?? (await loadSaga(deps, orderId))
  let asked = isSaid
  const givenUp = new Set<string>()
  for (let moves = 0; moves < stepsMax; moves++) {
    const now = deps.clock.now()
    const move = nextStep(saga, now)
    // Asked twice in a row, a processor says the same.
    const isRepeated = (move.kind === 'ask' && asked) || (move.kind === 'void' && givenUp.has(move.payment.id))
    if (move.kind === 'rest' || isRepeated) return settleAtRest(deps, saga, move, context)
    if (context.until !== undefined && now >= context.until && 'payment' in move) return scheduleResume(deps, saga, now)
    asked ||= move.kind === 'ask'
    if (move.kind === 'void') givenUp.add(move.payment.id)
    const after = await executeStep(deps, saga, move, context)
    if (!after) return loadSaga(deps, orderId)
    saga = after
    // Having begun a payment, or taken its money, it has said how that stands; unless it has not made up its mind.
    asked ||= (move.kind === 'create' || move.kind === 'capture') && paymentOf(saga)?.status !== 'PENDING'
  }
  throw new Error('the saga of an order does not come to rest')
}

/**
 * Somebody has to know how an order stands (the shopper is back, another payment is to begin, its time is over): it goes as far as it can.
 * Where it waits and its last payment had ended, the processor is asked about that one too: its shopper may have tried again on the same page.
 */
export async function refreshSaga(deps: OrderDeps, orderId: string, context: SagaContext): Promise<Saga> {
  const saga = await runSaga(deps, orderId, context)
  const last = paymentOf(saga)
  if (saga.order.status !== 'PENDING_PAYMENT' || !last || !hasFailed(last) || last.processorReference === null) return saga
  const after = await askPayment(deps, 'ask', last, context)
  return after === 'silent' || after === 'taken' ? saga : runSaga(deps, orderId, context, after)
}

/**
 * The shopper is back: the order goes as far as it can, once in two seconds at most; in between it is as it stands. One of which nothing is
 * left to do is as it stands, too.
 */
export async function refreshSagaOnReturn(deps: OrderDeps, orderId: string, context: SagaContext): Promise<Saga> {
  const saga = await loadSaga(deps, orderId)
  if (saga.order.status !== 'PENDING_PAYMENT' && saga.order.resumeAt === null) return saga
  const payment = paymentOf(saga)
  return !payment || (await takeQueryTurn(deps, payment)) ? refreshSaga(deps, orderId, context) : saga
}

/**
 * Gives up at its processor what an order that waits could still be paid by: a payment under way, or one that has failed and can be tried
 * again on the same page.
 * @returns the order as it is then; `silent` while it may still be paid, `taken` while somebody else is asking
 */
export async function voidOpenPayment(deps: OrderDeps, saga: Saga, context: SagaContext): Promise<Saga | 'silent' | 'taken'> {
  const last = paymentOf(saga)
  if (saga.order.status !== 'PENDING_PAYMENT' || !last || last.status === 'VOIDED' || isUnknownToProcessor(last)) return saga
  if (isLost(last)) return 'silent'
  if (context.until !== undefined && deps.clock.now() >= context.until) return 'silent'
  const after = await askPayment(deps, 'void', last, context)
  // Whoever tries again in a moment must not wait for a question that is over.
  if (after === 'silent') await deps.db.write((tx) => endLeases(tx, deps, saga.order.id, context.holder), locking)
  return typeof after === 'string' ? after : runSaga(deps, saga.order.id, context, after)
}

async function loadSaga({ orderStore }: OrderDeps, orderId: string): Promise<Saga> {
  const saga = await orderStore.saga(orderId)
  if (!saga) throw new AppError('NOT_FOUND', 'No such order')
  return saga
}

/** Nothing to do now: nobody needs to look again, unless the processor still owes an answer, or the shopper is at work there. */
async function settleAtRest(deps: OrderDeps, saga: Saga, move: SagaStep, context: SagaContext): Promise<Saga> {
  const { order } = saga
  if (move.kind === 'ask' && move.payment.status === 'PENDING') return undecided(deps, saga, context)
  const now = deps.clock.now()
  // Also of an order that has ended: what is being decided there may still become money, which goes back.
  const undecidedYet = saga.payments.find((payment) => isOpenPayment(payment) && !isLost(payment))
  // Its time is over: the job that ends it gives its payment up.
  if (undecidedYet && order.status === 'PENDING_PAYMENT' && order.expiresAt <= now) return saga
  const isPolled = order.resumeAt !== null && order.resumeAt > now
  const resumeAt = undecidedYet ? (isPolled ? order.resumeAt : pollAt(undecidedYet, order, now)) : null
  if (order.resumeAt === resumeAt) return saga
  const changed = await deps.db.write((tx) => deps.orderStore.setResumeAt(tx, order, resumeAt, now), locking)
  return changed ? { ...saga, order: changed } : loadSaga(deps, order.id)
}

/** A processor that cannot make up its mind is asked a few times more, and then told to forget it. */
async function undecided(deps: OrderDeps, saga: Saga, context: SagaContext): Promise<Saga> {
  const attempts = await postpone(deps, saga, context)
  const payment = paymentOf(saga)
  if (attempts >= undecidedAsksMax && payment) await askPayment(deps, 'void', payment, context)
  return loadSaga(deps, saga.order.id)
}

/** Has the job look at an order at `at`, if nobody would before. */
async function scheduleResume(deps: OrderDeps, saga: Saga, at: number): Promise<Saga> {
  const { id, status, resumeAt } = saga.order
  const now = deps.clock.now()
  if (resumeAt !== null && resumeAt > now && resumeAt <= at) return saga
  await deps.db.write((tx) => deps.orderStore.change(tx, id, [status], { resumeAt: at, updatedAt: now }), locking)
  return loadSaga(deps, id)
}

/** Makes one move. Undefined when it could not be made now: the saga stays as it is until it is looked at again. */
async function executeStep(
  deps: OrderDeps,
  saga: Saga,
  move: Exclude<SagaStep, { kind: 'rest' }>,
  context: SagaContext,
): Promise<Saga | undefined> {
  const { order } = saga
  switch (move.kind) {
    case 'create':
    case 'ask':
    case 'capture':
    case 'void': {
      const after = await askPayment(deps, move.kind, move.payment, context)
      if (after === 'taken') {
        await scheduleResume(deps, saga, deps.clock.now() + leaseMs)
        return undefined
      }
      // An answer that leaves the same to do is none: asking on would turn in a circle.
      const isOne = move.kind === 'ask' || hasFailed(move.payment)
      if (after !== 'silent' && (isOne || nextStep(after, deps.clock.now()).kind !== move.kind)) return after
      const elsewhere = move.kind === 'create' ? await failOverPayment(deps, saga, move.payment, context) : undefined
      if (elsewhere) return elsewhere
      const attempts = await postpone(deps, saga, context)
      if (move.kind === 'create' && attempts >= undecidedAsksMax) await askPayment(deps, 'void', move.payment, context)
      return undefined
    }
    case 'abandon':
      await abandonUnresolvedPayment(deps, move.payment)
      return loadSaga(deps, order.id)
    case 'accept':
      return acceptPayment(deps, move.payment, context)
    case 'confirm':
      return confirmOrder(deps, saga, context)
    case 'release':
      await deps.db.write(async (tx) => {
        const current = await deps.orderStore.lock(tx, order.id)
        if (current) await release(tx, deps, current)
      }, locking)
      return loadSaga(deps, order.id)
    case 'endCompensation':
      return endCompensation(deps, saga, context)
  }
}

/** Notes a failure and when to look again. Returns how often in a row it has failed; 0 when this failure does not count. */
async function postpone(deps: OrderDeps, { order }: Saga, context: SagaContext): Promise<number> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  // Tries between those of the job do not count: a shopper who looks every second must not use up the processor's time.
  const counts = order.attempts === 0 || order.resumeAt === null || order.resumeAt <= now
  return deps.db.write(async (tx) => {
    const current = counts ? await store.lock(tx, order.id) : undefined
    const failed = current && (await store.countFailure(tx, current, now + backoffMs(current.attempts + 1), now))
    await endLeases(tx, deps, order.id, context.holder)
    return failed?.attempts ?? 0
  }, locking)
}

/** Makes a sale of what is paid, or needs no payment. What keeps it from that is tried again, and in the end the money goes back. */
async function confirmOrder(deps: OrderDeps, saga: Saga, context: SagaContext): Promise<Saga | undefined> {
  const { order } = saga
  const confirmBy = (by: SagaContext | undefined) =>
    deps.db.write(async (tx) => {
      const { payments } = saga
      const [current, parts] = await Promise.all([deps.orderStore.lock(tx, order.id), readOrderContents(tx, deps, order.id)])
      if (current?.status === 'PAID') return confirm(tx, deps, { order: current, payments, parts }, by)
      // Of an order that waits it is asked only where nothing is left to pay.
      if (current?.status !== 'PENDING_PAYMENT') return undefined
      await appendEvent(tx, deps, { orderId: order.id, type: 'NOTHING_TO_PAY' })
      return confirm(tx, deps, { order: current, payments, parts, capturedTotal: 0 }, by)
    }, locking)
  try {
    return await confirmBy(context).catch((error: unknown) => {
      if (isDatabaseAway(error) || !context.keep) throw error
      // Whatever keeps the answer from being stored, the order goes on.
      return confirmBy(undefined)
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
 * Turns a paid order around: its money goes back and what it held is free.
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
    const begun = await refundExcess(tx, deps, { order, payments }, context.holder, { reason, actor: actor.id })
    // Whoever ends the order sends them: nobody has yet.
    for (const { id } of begun) await deps.orderStore.changeRefund(tx, id, ['PENDING'], { sentAt: null, resumeAt: now, ...noLease })
    return true
  }, locking)
}

/** Everything of ours is undone. The order is CANCELLED once its money has gone back, too. */
async function endCompensation(deps: OrderDeps, saga: Saga, context: SagaContext): Promise<Saga | undefined> {
  const { orderStore: store } = deps
  const { order } = saga
  for (const refund of await store.refundsOf(deps.db.read, order.id)) {
    // One that follows another that failed has a time of its own.
    const isLater = refund.sentAt === null && (refund.resumeAt ?? 0) > deps.clock.now()
    const settled = refund.status === 'PENDING' && !isLater ? await settleRefund(deps, refund.id, context) : refund
    if (settled.status !== 'PENDING') continue
    await postpone(deps, saga, context)
    return undefined
  }
  const isOver = await deps.db.write(async (tx) => {
    await store.lock(tx, order.id)
    // Another may have been begun meanwhile in the place of one that failed.
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
