import type { Writer } from '../../../db/engine.ts'
import type { ProcessorPayment } from '../../clients/processors/processor.ts'
import { leaseOf, movesOn, noLease, openPaymentStatuses, type Payment } from './domain.ts'
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
 * @param payment as it stands, in a write that has its order
 * @param holder who goes on to take the money of one that is authorized, and keeps it for that; undefined: nobody does at once
 * @returns the payment after it
 */
export async function noteProgress(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  { payment, answer, holder }: Noted & { holder?: string | undefined },
): Promise<Payment> {
  const { id, status } = payment
  const { state, clientParameters } = answer
  const seen = seenBy(answer, clock.now())
  const shown = clientParameters ? { ...seen, clientParameters: { ...clientParameters } } : seen
  if (!movesOn(status, state)) {
    const tells = state === status && (state === 'PENDING' || (state === 'REQUIRES_ACTION' && clientParameters !== undefined))
    return (tells && (await store.change(tx, id, [status], shown))) || payment
  }
  switch (state) {
    case 'REQUIRES_ACTION':
      return (await store.move(tx, id, ['PENDING'], state, shown)) ?? payment
    case 'AUTHORIZED': {
      const lease = holder === undefined ? noLease : leaseOf(holder, clock.now())
      const authorized = { ...seen, ...lease, authorized: answer.authorized }
      return (await store.move(tx, id, ['PENDING', 'REQUIRES_ACTION'], state, authorized)) ?? payment
    }
    case 'FAILED':
    case 'VOIDED': {
      const ended = { ...seen, clientParameters: {}, failureCode: answer.failureCode ?? null }
      return (await store.move(tx, id, openPaymentStatuses, state, ended)) ?? payment
    }
    case 'PENDING':
    case 'CAPTURED':
      // Nothing becomes PENDING again, and without an amount it is no capture.
      return payment
  }
}

/** What money that was taken leaves on its payment. */
export const takenBy = (answer: ProcessorPayment, updatedAt: number) => ({
  ...seenBy(answer, updatedAt),
  captured: answer.captured,
  authorized: Math.max(answer.authorized, answer.captured),
  clientParameters: {},
})

/**
 * Notes money that was taken.
 * @param becomes what the payment becomes by it; undefined: it stays what it is
 * @returns the payment after it
 */
export async function noteCapture(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  { payment, answer, becomes }: Noted & { becomes?: 'CAPTURED' | 'FAILED' | 'VOIDED' | undefined },
): Promise<Payment> {
  const taken = takenBy(answer, clock.now())
  const after =
    becomes === 'CAPTURED'
      ? await store.move(tx, payment.id, [...openPaymentStatuses, 'FAILED', 'VOIDED'], becomes, taken)
      : becomes
        ? await store.move(tx, payment.id, openPaymentStatuses, becomes, taken)
        : await store.change(tx, payment.id, [payment.status], taken)
  if (!after) throw new Error('a payment changed under its lock')
  return after
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
