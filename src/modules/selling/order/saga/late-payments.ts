import { inLanes } from '../../../../core/partitioned-queue.ts'
import { endSweepTurn, paymentsDueForQuery, takeSweepTurn } from '../../../payments/payment/index.ts'
import type { OrderDeps } from '../providers.ts'
import { refreshPayment } from './resume-orders.ts'

/** Of one run and one lane. */
const laneBatch = 100
/** Of one run: what is left then comes with the next. */
const batchesMax = 100

/**
 * Asks about payments that ended without money, in a lane a processor: what was given up, or refused, may be paid all the same, and goes
 * back; what turns up open is given up.
 */
export async function sweepPayments(deps: OrderDeps): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const due = await paymentsDueForQuery(deps, deps.clock.now(), laneBatch)
    const begun = await inLanes(deps, 'sweep', due, (id) =>
      sweepPayment(deps, id).catch((error: unknown) => deps.log.error('payment.not_swept', { payment: id, error })),
    )
    // What is left is in lanes that are at work already.
    if (due.length < laneBatch || begun === 0) return
  }
}

/** One that fails for a reason that nobody foresaw keeps the time that its turn gave it. */
async function sweepPayment(deps: OrderDeps, id: string): Promise<void> {
  const payment = await takeSweepTurn(deps, id)
  if (!payment) return
  const came = await refreshPayment(deps, payment)
  await endSweepTurn(deps, payment, came === 'silent' ? 'silent' : 'said')
}
