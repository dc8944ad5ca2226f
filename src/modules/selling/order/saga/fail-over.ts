import { locking } from '../../../../core/command-context.ts'
import type { Payment } from '../../../payments/payment/domain.ts'
import { abandonPayment, createPayment, failOverCapabilities, paymentsWithin } from '../../../payments/payment/index.ts'
import { resumeAfterMs } from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import type { SagaContext, SagaRun } from './saga-context.ts'

/**
 * Starts the payment at the next processor when the first one did not confirm that it started it. Only if the first
 * cannot capture without its payment page, which the shopper never saw. The abandoned payment is
 * watched, and voided if it appears.
 * @returns the order with its new payment; undefined without another processor, or if another run continued
 */
export async function failOverPayment(
  deps: OrderDeps,
  { order: { id: orderId }, unsent }: SagaRun,
  unanswered: Payment,
  context: SagaContext,
): Promise<SagaRun | undefined> {
  const { orderStore: store } = deps
  const { id } = unanswered
  const [choice, ...fallbacks] = unsent?.id === id ? unsent.fallbacks : []
  if (!choice) return undefined
  if (context.deadline !== undefined && deps.clock.now() >= context.deadline) return undefined
  const { capturesItself, isFindable: isWatched } = await failOverCapabilities(deps, unanswered)
  if (capturesItself) return undefined
  const after = await deps.db.write(async (tx): Promise<SagaRun | undefined> => {
    const now = deps.clock.now()
    const [order, payments] = await Promise.all([store.lock(tx, orderId), paymentsWithin(tx, deps, orderId)])
    const before = payments.find((candidate) => candidate.id === id)
    const isUnheard = before?.status === 'PENDING' && before.processorReference === null && before.leaseHolder === context.holder
    if (order?.status !== 'PENDING_PAYMENT' || !isUnheard) return undefined
    const abandoned = await abandonPayment(tx, deps, before, { isWatched })
    if (!abandoned) return undefined
    const payment = await createPayment(tx, deps, { order, choice, holder: context.holder })
    const change = { processor: choice.processor, attempts: 0, resumeAt: now + resumeAfterMs, updatedAt: now }
    const changed = await store.change(tx, orderId, ['PENDING_PAYMENT'], change)
    const detail = { payment: payment.id, processor: choice.processor, instead: before.processor }
    await appendEvent(tx, deps, { orderId, type: 'PAYMENT_FAILED_OVER', detail })
    return {
      order: changed ?? order,
      payments: [...payments.map((candidate) => (candidate.id === id ? abandoned : candidate)), payment],
      unsent: { id: payment.id, fallbacks, isFallback: true },
    }
  }, locking)
  const newPayment = after?.payments.at(-1)
  if (newPayment)
    deps.log.warn('payment.failed_over', {
      order: newPayment.orderId,
      payment: newPayment.id,
      processor: newPayment.processor,
      instead: unanswered.processor,
    })
  return after
}
