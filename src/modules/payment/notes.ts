import type { Writer } from '../../../db/engine.ts'
import type { ProcessorPayment } from '../../clients/processors/processor.ts'
import { leaseOf, noLease, openPaymentStatuses, type Payment, type PaymentStatus } from './domain.ts'
import type { PaymentDeps } from './parts.ts'

// What a processor said, written down on its payment inside a write. Said twice, late or in another order, it leads to the same:
// a payment only ever moves on.

type Noted = { payment: Payment; answer: ProcessorPayment }

/** Once it has a name for the payment, the processor needs nothing more of us to begin it. Whoever asked has the answer. */
const seenBy = ({ reference }: ProcessorPayment, updatedAt: number) => ({
  processorReference: reference,
  sealedToken: null,
  ...noLease,
  updatedAt,
})

/**
 * Notes how far a payment has come, short of its money.
 * @param holder who goes on to take the money of one that is authorized, and keeps it for that; undefined: nobody does at once
 * @returns the status that it moved to; undefined when it stays where it was
 */
export async function noteProgress(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  { payment: { id }, answer, holder }: Noted & { holder?: string | undefined },
): Promise<PaymentStatus | undefined> {
  const { state, clientParameters } = answer
  const seen = seenBy(answer, clock.now())
  const shown = clientParameters ? { ...seen, clientParameters: { ...clientParameters } } : seen
  switch (state) {
    case 'PENDING':
      await store.change(tx, id, ['PENDING'], shown)
      return undefined
    case 'REQUIRES_ACTION':
      if (clientParameters) await store.change(tx, id, ['REQUIRES_ACTION'], shown)
      return (await store.move(tx, id, ['PENDING'], 'REQUIRES_ACTION', shown))?.status
    case 'AUTHORIZED': {
      const lease = holder === undefined ? noLease : leaseOf(holder, clock.now())
      const authorized = { ...seen, ...lease, authorized: answer.authorized }
      return (await store.move(tx, id, ['PENDING', 'REQUIRES_ACTION'], 'AUTHORIZED', authorized))?.status
    }
    case 'FAILED':
    case 'VOIDED': {
      const ended = { ...seen, clientParameters: {}, failureCode: answer.failureCode ?? null }
      return (await store.move(tx, id, openPaymentStatuses, state, ended))?.status
    }
    case 'CAPTURED':
      // Without an amount it is no capture.
      return undefined
  }
}

/**
 * Notes money that was taken.
 * @param becomes what the payment becomes by it; undefined: it stays what it is
 */
export async function noteCapture(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  { payment, answer, becomes }: Noted & { becomes?: 'CAPTURED' | 'FAILED' | 'VOIDED' | undefined },
): Promise<void> {
  const { captured } = answer
  const taken = { ...seenBy(answer, clock.now()), captured, authorized: Math.max(answer.authorized, captured), clientParameters: {} }
  if (becomes === 'CAPTURED') await store.move(tx, payment.id, [...openPaymentStatuses, 'FAILED', 'VOIDED'], becomes, taken)
  else if (becomes) await store.move(tx, payment.id, openPaymentStatuses, becomes, taken)
  else await store.change(tx, payment.id, [payment.status], taken)
}

/** Notes money that went back. */
export async function noteRefunded(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  { paymentId, amount }: { paymentId: string; amount: number },
): Promise<void> {
  const payment = await store.get(tx, paymentId)
  if (payment) await store.change(tx, payment.id, [payment.status], { refunded: payment.refunded + amount, updatedAt: clock.now() })
}
