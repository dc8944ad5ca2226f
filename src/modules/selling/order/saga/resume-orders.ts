import { isDatabaseAway, type Writer } from '../../../../../db/engine.ts'
import { system } from '../../../../core/command-context.ts'
import { runInLanes } from '../../../../core/partitioned-queue.ts'
import type { Payment } from '../../../payments/payment/domain.ts'
import {
  endSweepTurn,
  fetchPaymentStatus,
  type PaymentAnswer,
  paymentsDueForQuery,
  takeSweepTurn,
} from '../../../payments/payment/index.ts'
import { orderStatuses, paymentOf } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import { openRefundStatuses, settleRefund } from '../refunds/refunds.ts'
import { endUnpaid } from '../service.ts'
import { handleAnswer } from './order-payments.ts'
import { refreshSaga, runSaga } from './saga.ts'
import { newSagaContext } from './saga-context.ts'

/** Rows of one lane in one run. */
const laneBatch = 100
/** Batches of one run. The next run takes the rest. */
const batchesMax = 100
/** After an unexpected error a row waits this long, so that it does not delay others. */
const afterFailureMs = 5 * 60 * 1000

/**
 * Queries a payment's processor and runs its order's saga.
 * @returns `unanswered` without an answer, or if an unwanted payment could not be voided; `notFound` if the processor
 *   does not know it
 */
export async function refreshPayment(deps: OrderDeps, payment: Payment): Promise<'answered' | 'notFound' | 'unanswered'> {
  const answer = await fetchPaymentStatus(deps, payment)
  if (answer === undefined) return 'unanswered'
  if (answer !== 'notFound') return continueWithAnswer(deps, payment, answer)
  await runSaga(deps, payment.orderId)
  return 'notFound'
}

/** Records an answer of a processor and runs the order's saga. */
export async function continueWithAnswer(deps: OrderDeps, payment: Payment, answer: PaymentAnswer): Promise<'answered' | 'unanswered'> {
  const context = newSagaContext(deps)
  const after = await handleAnswer(deps, payment, answer, context)
  if (after === 'unanswered') return 'unanswered'
  const isStateKnown = paymentOf(after)?.id === payment.id && answer.state !== 'PENDING'
  await runSaga(deps, payment.orderId, context, after, isStateKnown)
  return 'answered'
}

/**
 * Resumes orders and refunds that a crash or an unreachable processor left unfinished. Each processor has its own lane,
 * so that a hanging one delays no other. A lane still running from the last run continues.
 * @returns how many were due
 */
export async function resumeOrders(deps: OrderDeps, dueBy = deps.clock.now()): Promise<number> {
  const { orderStore: store } = deps
  const [refunds, orders] = await Promise.all([store.refundsToResume(dueBy, laneBatch), store.toResume(dueBy, laneBatch)])
  const resumed = [
    runInLanes(deps, 'refund', refunds, async (id) => {
      const context = newSagaContext(deps)
      const resumeRefund = async () => {
        const { orderId } = await settleRefund(deps, id, context)
        await runSaga(deps, orderId, context)
      }
      await runGuarded(deps, id, resumeRefund, (tx, resumeAt) => store.changeRefund(tx, id, openRefundStatuses, { resumeAt }))
    }),
    runInLanes(deps, 'order', orders, (id) =>
      runGuarded(
        deps,
        id,
        () => runSaga(deps, id),
        (tx, resumeAt) => store.change(tx, id, orderStatuses, { resumeAt }),
      ),
    ),
  ]
  await Promise.all(resumed)
  return refunds.length + orders.length
}

/** Expires orders that were not paid in time, in the same lanes. */
export async function expireOrders(deps: OrderDeps): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const due = await deps.orderStore.toExpire(deps.clock.now(), laneBatch)
    const started = await runInLanes(deps, 'expiry', due, async (id) => {
      // The money may be captured already. The order expires if not.
      await runGuarded(deps, id, () => refreshSaga(deps, id, newSagaContext(deps)))
      await runGuarded(deps, id, () => expireOrder(deps, id))
    })
    // The rest belongs to lanes that are still running.
    if (due.length < laneBatch || started === 0) return
  }
}

async function expireOrder(deps: OrderDeps, id: string): Promise<void> {
  const order = await deps.orderStore.find(id)
  // A pending decision or another payment may have extended its time.
  if (order?.status !== 'PENDING_PAYMENT' || order.expiresAt > deps.clock.now()) return
  await endUnpaid(deps, order, { status: 'EXPIRED', actor: system, reason: null, context: newSagaContext(deps) })
  await runSaga(deps, id)
}

/**
 * Queries payments that ended without money, one lane for each processor. A voided or declined payment may be captured
 * later; it is then refunded. One that is still open is voided.
 */
export async function sweepPayments(deps: OrderDeps): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const due = await paymentsDueForQuery(deps, deps.clock.now(), laneBatch)
    const started = await runInLanes(deps, 'sweep', due, (id) =>
      sweepPayment(deps, id).catch((error: unknown) => deps.log.error('payment.not_swept', { payment: id, error })),
    )
    // The rest belongs to lanes that are still running.
    if (due.length < laneBatch || started === 0) return
  }
}

/** After an unexpected error the payment keeps the time that its turn set. */
async function sweepPayment(deps: OrderDeps, id: string): Promise<void> {
  const payment = await takeSweepTurn(deps, id)
  if (!payment) return
  const result = await refreshPayment(deps, payment)
  await endSweepTurn(deps, payment, result === 'unanswered' ? 'unanswered' : 'answered')
}

/** Runs one row. Its failure must not delay the others, now or in the next run. */
async function runGuarded(
  deps: OrderDeps,
  id: string,
  run: () => Promise<unknown>,
  postpone?: (tx: Writer, resumeAt: number) => Promise<unknown>,
): Promise<void> {
  try {
    await run()
  } catch (error) {
    deps.log.error('order.not_resumed', { id, error })
    // A lost database connection is not the order's fault.
    if (!postpone || isDatabaseAway(error)) return
    const resumeAt = deps.clock.now() + afterFailureMs
    await deps.db
      .write(async (tx) => void (await postpone(tx, resumeAt)))
      .catch((secondError: unknown) => deps.log.error('order.not_put_off', { id, error: secondError }))
  }
}
