import type { Writer } from '../../../../db/engine.ts'
import { isFree, leaseOf, noLease } from '../../../core/leases.ts'
import { canMoveTo, openPaymentStatuses, type Payment, sweepAt } from './domain.ts'
import type { PaymentDeps } from './providers.ts'
import type { PaymentAnswer } from './service.ts'

// What a processor said, written down on its payment inside a write. Said twice, late or in another order, it leads to the same:
// a payment only ever moves on.

/** `payment`: as it stands, locked; or as it is known, where `isKnown`; `holder`: who asked */
type Noted = { payment: Payment; answer: PaymentAnswer; holder: string; isKnown?: boolean | undefined }

const rowKeyOf = ({ payment, isKnown = false }: Pick<Noted, 'payment' | 'isKnown'>) => (isKnown ? { asKnown: payment } : payment)

/**
 * Once it has a name for the payment, the processor needs nothing more of us to begin it. Whoever asked has the answer, and gives their
 * lease back: a question is asked without one, and somebody else may have it for a call of theirs.
 */
const answerFields = ({ payment, answer: { reference, references }, holder }: Noted, now: number) => ({
  // The first stays: another would be another payment's.
  processorReference: payment.processorReference ?? reference ?? null,
  references: { ...payment.references, ...references },
  sealedToken: null,
  ...(isFree(payment, holder, now) ? noLease : {}),
  updatedAt: now,
})

/** What a payment that ends without money leaves to do: where its processor has it, it is asked about for a while. */
const endedFields = ({ payment, answer }: Pick<Noted, 'payment' | 'answer'>, now: number) => ({
  endedAt: now,
  askAt: (answer.reference ?? payment.processorReference) === null ? null : sweepAt(now, now),
})
const reopenedFields = { endedAt: null, askAt: null } as const

/** Whether an answer has a name of the payment that was not known yet. */
const hasNewReferences = ({ payment, answer }: Pick<Noted, 'payment' | 'answer'>): boolean =>
  Object.entries(answer.references ?? {}).some(([name, value]) => payment.references[name] !== value)

/**
 * Notes how far a payment has come, short of its money.
 * @param noted its `holder` goes on to take the money of one that is authorized, and keeps it for that, unless somebody else has it
 * @returns the payment after it
 */
export async function recordPaymentProgress(tx: Writer, { paymentStore: store, clock }: PaymentDeps, noted: Noted): Promise<Payment> {
  const { payment, answer, holder } = noted
  const { status } = payment
  const { state, clientParameters } = answer
  const now = clock.now()
  const seen = answerFields(noted, now)
  const shown = clientParameters ? { ...seen, clientParameters: { ...clientParameters } } : seen
  if (!canMoveTo(status, state)) {
    const tells = state === status && (state === 'PENDING' || (state === 'REQUIRES_ACTION' && clientParameters !== undefined))
    return ((tells || hasNewReferences(noted)) && (await store.change(tx, rowKeyOf(noted), [status], shown))) || payment
  }
  const authorized = Math.max(payment.authorized, answer.authorized)
  switch (state) {
    case 'REQUIRES_ACTION':
      return (await store.move(tx, rowKeyOf(noted), ['PENDING'], state, shown)) ?? payment
    case 'AUTHORIZED': {
      const lease = isFree(payment, holder, now) ? leaseOf(holder, now) : {}
      const held = { ...seen, ...lease, ...reopenedFields, authorized: answer.authorized, failureCode: null }
      return (await store.move(tx, rowKeyOf(noted), ['PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED'], state, held)) ?? payment
    }
    case 'PROCESSING': {
      const asked = { ...seen, ...reopenedFields, clientParameters: {}, authorized, failureCode: answer.failureCode ?? null }
      return (await store.move(tx, rowKeyOf(noted), ['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED', 'FAILED'], state, asked)) ?? payment
    }
    case 'FAILED':
    case 'VOIDED': {
      const ended = { ...seen, ...endedFields(noted, now), clientParameters: {}, failureCode: answer.failureCode ?? null }
      return (await store.move(tx, rowKeyOf(noted), openPaymentStatuses, state, ended)) ?? payment
    }
    case 'PENDING':
    case 'CAPTURED':
      // Nothing becomes PENDING again, and without an amount it is no capture.
      return payment
  }
}

/** Notes what its processor calls a payment, which stays what it is: without a name it could not be given up. */
export async function recordNames(tx: Writer, { paymentStore: store, clock }: PaymentDeps, noted: Noted): Promise<Payment> {
  const { payment } = noted
  if (payment.processorReference !== null && !hasNewReferences(noted)) return payment
  return (await store.change(tx, rowKeyOf(noted), [payment.status], answerFields(noted, clock.now()))) ?? payment
}

/** What money that was taken leaves on its payment. */
export const captureFields = (noted: Noted, now: number) => ({
  ...answerFields(noted, now),
  captured: noted.answer.captured,
  authorized: Math.max(noted.answer.authorized, noted.answer.captured),
  clientParameters: {},
})

/** Gives the lease of a payment back whose answer says nothing new. Returns the payment after it. */
export async function returnLease(tx: Writer, { paymentStore: store }: PaymentDeps, noted: Omit<Noted, 'answer'>): Promise<Payment> {
  const { payment, holder } = noted
  if (payment.leaseHolder !== holder) return payment
  return (await store.change(tx, rowKeyOf(noted), [payment.status], noLease)) ?? payment
}

/**
 * Notes money that was taken.
 * @param becomes what the payment becomes by it; undefined: it stays what it is
 * @returns the payment after it
 */
export async function recordCapture(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  { becomes, ...noted }: Noted & { becomes?: 'CAPTURED' | 'FAILED' | 'VOIDED' | undefined },
): Promise<Payment> {
  const { payment } = noted
  const taken = captureFields(noted, clock.now())
  const after =
    becomes === 'CAPTURED'
      ? await store.move(tx, rowKeyOf(noted), [...openPaymentStatuses, 'FAILED', 'VOIDED'], becomes, {
          ...taken,
          ...reopenedFields,
          failureCode: null,
        })
      : becomes
        ? await store.move(tx, rowKeyOf(noted), openPaymentStatuses, becomes, { ...taken, ...endedFields(noted, clock.now()) })
        : await store.change(tx, rowKeyOf(noted), [payment.status], taken)
  if (!after) throw new Error('a payment changed under its lock')
  return after
}

/**
 * Ends a payment of which nobody can know whether its processor has begun it, or that another one is begun in the place of.
 * @param isWatched whether its processor can be asked for it by our id, and is for a while: should it be there, it is given up
 */
export async function abandonPayment(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  { id }: Payment,
  { isWatched }: { isWatched: boolean } = { isWatched: false },
): Promise<Payment | undefined> {
  const now = clock.now()
  const ended = { ...noLease, sealedToken: null, endedAt: now, askAt: isWatched ? sweepAt(now, now) : null, updatedAt: now }
  return store.move(tx, id, openPaymentStatuses, 'FAILED', { ...ended, failureCode: 'not_answered' })
}

/** Notes money that went back. */
export async function recordRefunded(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  { paymentId, amount }: { paymentId: string; amount: number },
): Promise<void> {
  const payment = await store.get(tx, paymentId)
  if (payment) await store.change(tx, payment.id, [payment.status], { refunded: payment.refunded + amount, updatedAt: clock.now() })
}
