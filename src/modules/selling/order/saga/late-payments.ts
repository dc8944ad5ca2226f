import { runInLanes } from '../../../../core/partitioned-queue.ts'
import { endSweepTurn, paymentsDueForQuery, takeSweepTurn } from '../../../payments/payment/index.ts'
import type { OrderDeps } from '../providers.ts'
import { refreshPayment } from './resume-orders.ts'

/** Payments of one lane in one run. */
const laneBatch = 100
/** Batches of one run. The next run takes the rest. */
const batchesMax = 100

/**
 * Queries payments that ended without money, one lane for each processor. A voided or declined payment may be captured
 * later; it is then refunded. One that is still open is voided.
 */
export async function sweepPayments(deps: OrderDeps): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const due = await paymentsDueForQuery(deps, deps.clock.now(), laneBatch)
    const begun = await runInLanes(deps, 'sweep', due, (id) =>
      sweepPayment(deps, id).catch((error: unknown) => deps.log.error('payment.not_swept', { payment: id, error })),
    )
    // The rest belongs to lanes that are still running.
    if (due.length < laneBatch || begun === 0) return
  }
}

/** After an unexpected error the payment keeps the time that its turn set. */
async function sweepPayment(deps: OrderDeps, id: string): Promise<void> {
  const payment = await takeSweepTurn(deps, id)
  if (!payment) return
  const came = await refreshPayment(deps, payment)
  await endSweepTurn(deps, payment, came === 'silent' ? 'silent' : 'said')
}
