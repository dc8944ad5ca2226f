import { isDatabaseAway, type Writer } from '../../../../../db/engine.ts'
import { system } from '../../../../core/command-context.ts'
import { inLanes } from '../../../../core/partitioned-queue.ts'
import type { Payment } from '../../../payments/payment/domain.ts'
import { fetchPaymentStatus, type PaymentAnswer } from '../../../payments/payment/index.ts'
import { orderStatuses, paymentOf } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import { openRefundStatuses, settleRefund } from '../refunds/refunds.ts'
import { endUnpaid } from '../service.ts'
import { handleAnswer } from './order-payments.ts'
import { refreshSaga, runSaga } from './saga.ts'
import { newSagaContext } from './saga-context.ts'

/** Of one run and one lane. */
const laneBatch = 100
/** Of one run: what is left then comes with the next. */
const batchesMax = 100
/** What failed for a reason that nobody foresaw is left alone for so long, so that it does not hold up the others. */
const afterFailureMs = 5 * 60 * 1000

/**
 * Something may have become of a payment: its processor is asked what, and the order goes on from there.
 * @returns `silent` when it does not say, or does not give up what nobody waits for; `unheard` when it knows of no such payment
 */
export async function refreshPayment(deps: OrderDeps, payment: Payment): Promise<'told' | 'unheard' | 'silent'> {
  const answer = await fetchPaymentStatus(deps, payment)
  if (answer === undefined) return 'silent'
  if (answer !== 'unheard') return continueWithAnswer(deps, payment, answer)
  await runSaga(deps, payment.orderId)
  return 'unheard'
}

/** The same of what a processor has said of a payment. */
export async function continueWithAnswer(deps: OrderDeps, payment: Payment, answer: PaymentAnswer): Promise<'told' | 'silent'> {
  const context = newSagaContext(deps)
  const after = await handleAnswer(deps, payment, answer, context)
  if (after === 'silent') return 'silent'
  const isSaid = paymentOf(after)?.id === payment.id && answer.state !== 'PENDING'
  await runSaga(deps, payment.orderId, context, after, isSaid)
  return 'told'
}

/**
 * Takes on what was left half-done: by a crash, or by a processor that did not answer. Each processor has a lane of its own, so that one
 * that hangs holds up nobody else's; a lane that is at work from the run before goes on, and the others run.
 * @returns how much there was
 */
export async function resumeOrders(deps: OrderDeps, dueBy = deps.clock.now()): Promise<number> {
  const { orderStore: store } = deps
  const [refunds, orders] = await Promise.all([store.refundsToResume(dueBy, laneBatch), store.toResume(dueBy, laneBatch)])
  const resumed = [
    inLanes(deps, 'refund', refunds, async (id) => {
      const context = newSagaContext(deps)
      const resumeRefund = async () => {
        const { orderId } = await settleRefund(deps, id, context)
        await runSaga(deps, orderId, context)
      }
      await guarded(deps, id, resumeRefund, (tx, resumeAt) => store.changeRefund(tx, id, openRefundStatuses, { resumeAt }))
    }),
    inLanes(deps, 'order', orders, (id) =>
      guarded(
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

/** Ends the orders that nobody paid in time, in lanes as well. */
export async function expireOrders(deps: OrderDeps): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const due = await deps.orderStore.toExpire(deps.clock.now(), laneBatch)
    const begun = await inLanes(deps, 'expiry', due, async (id) => {
      // The money may be there already, and nobody has told us. Whatever comes of it, the order's time is over.
      await guarded(deps, id, () => refreshSaga(deps, id, newSagaContext(deps)))
      await guarded(deps, id, () => expireOrder(deps, id))
    })
    // What is left is in lanes that are at work already.
    if (due.length < laneBatch || begun === 0) return
  }
}

async function expireOrder(deps: OrderDeps, id: string): Promise<void> {
  const order = await deps.orderStore.find(id)
  // It may have got more time meanwhile: a payment that is being decided, or another one.
  if (order?.status !== 'PENDING_PAYMENT' || order.expiresAt > deps.clock.now()) return
  await endUnpaid(deps, order, { status: 'EXPIRED', actor: system, reason: null, context: newSagaContext(deps) })
  await runSaga(deps, id)
}

/** One that fails must not hold up the others, now or at the next run. */
async function guarded(
  deps: OrderDeps,
  id: string,
  run: () => Promise<unknown>,
  putOff?: (tx: Writer, resumeAt: number) => Promise<unknown>,
): Promise<void> {
  try {
    await run()
  } catch (error) {
    deps.log.error('order.not_resumed', { id, error })
    // The database's trouble is not the order's.
    if (!putOff || isDatabaseAway(error)) return
    const resumeAt = deps.clock.now() + afterFailureMs
    await deps.db
      .write(async (tx) => void (await putOff(tx, resumeAt)))
      .catch((again: unknown) => deps.log.error('order.not_put_off', { id, error: again }))
  }
}
