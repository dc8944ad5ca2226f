import type { Writer } from '../../../../db/engine.ts'
import { isLeaseFree, leaseOf, noLease } from '../../../core/leases.ts'
import { canMoveTo, isManualPayment, openPaymentStatuses, type Payment, sweepAt } from './domain.ts'
import type { PaymentDeps } from './providers.ts'
import type { PaymentAnswer } from './service.ts'

// Records a processor's answer on its payment, inside a write. Repeated, late and reordered answers lead to the same
// state: a payment only moves forward.

/** `payment`: locked; `holder`: the run that asked */
type RecordedAnswer = { payment: Payment; answer: PaymentAnswer; holder: string }

/**
 * The fields that every answer sets. With a reference, the sealed details are not needed again. The asking run returns
 * its lease, unless another run holds it: a query is made without one.
 */
const answerFields = ({ payment, answer: { reference, references }, holder }: RecordedAnswer, now: number) => ({
  // The first reference stays: another one would be another payment's.
  processorReference: payment.processorReference ?? reference ?? null,
  references: { ...payment.references, ...references },
  sealedToken: null,
  ...(isLeaseFree(payment, holder, now) ? noLease : {}),
  updatedAt: now,
})

/** Returns when a payment that ends without money is queried again, if its processor knows it. */
const endedFields = ({ payment, answer }: Pick<RecordedAnswer, 'payment' | 'answer'>, now: number) => ({
  endedAt: now,
  askAt: (answer.reference ?? payment.processorReference) === null ? null : sweepAt(now, now),
})
const reopenedFields = { endedAt: null, askAt: null } as const

/** Returns whether an answer has a reference that was not known yet. */
const hasNewReferences = ({ payment, answer }: Pick<RecordedAnswer, 'payment' | 'answer'>): boolean =>
  Object.entries(answer.references ?? {}).some(([name, value]) => payment.references[name] !== value)

/**
 * Records a payment's progress, except its money.
 * @param recorded its `holder` keeps the lease of an authorized payment, to capture it
 * @returns the payment afterwards
 */
export async function recordPaymentProgress(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  recorded: RecordedAnswer,
): Promise<Payment> {
  const { payment, answer, holder } = recorded
  const { status } = payment
  const { state, clientParameters } = answer
  const now = clock.now()
  const commonFields = answerFields(recorded, now)
  const withParameters = clientParameters ? { ...commonFields, clientParameters: { ...clientParameters } } : commonFields
  if (!canMoveTo(status, state)) {
    const isUpdate = state === status && (state === 'PENDING' || (state === 'REQUIRES_ACTION' && clientParameters !== undefined))
    return ((isUpdate || hasNewReferences(recorded)) && (await store.change(tx, payment, [status], withParameters))) || payment
  }
  const authorized = Math.max(payment.authorized, answer.authorized)
  switch (state) {
    case 'REQUIRES_ACTION':
      return (await store.move(tx, payment, ['PENDING'], state, withParameters)) ?? payment
    case 'AUTHORIZED': {
      const lease = isLeaseFree(payment, holder, now) ? leaseOf(holder, now) : {}
      const authorizedFields = { ...commonFields, ...lease, ...reopenedFields, authorized: answer.authorized, failureCode: null }
      return (await store.move(tx, payment, ['PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED'], state, authorizedFields)) ?? payment
    }
    case 'PROCESSING': {
      const processingFields = {
        ...commonFields,
        ...reopenedFields,
        clientParameters: {},
        authorized,
        failureCode: answer.failureCode ?? null,
      }
      return (await store.move(tx, payment, ['PENDING', 'REQUIRES_ACTION', 'AUTHORIZED', 'FAILED'], state, processingFields)) ?? payment
    }
    case 'FAILED':
    case 'VOIDED': {
      const ended = { ...commonFields, ...endedFields(recorded, now), clientParameters: {}, failureCode: answer.failureCode ?? null }
      return (await store.move(tx, payment, openPaymentStatuses, state, ended)) ?? payment
    }
    case 'PENDING':
    case 'CAPTURED':
      // No payment becomes PENDING again, and CAPTURED needs an amount.
      return payment
  }
}

/** Records the processor's references and keeps the status: a payment cannot be voided without them. */
export async function recordReferences(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  recorded: RecordedAnswer,
): Promise<Payment> {
  const { payment } = recorded
  if (payment.processorReference !== null && !hasNewReferences(recorded)) return payment
  return (await store.change(tx, payment, [payment.status], answerFields(recorded, clock.now()))) ?? payment
}

/** Returns the fields that a capture sets. */
export const captureFields = (recorded: RecordedAnswer, now: number) => ({
  ...answerFields(recorded, now),
  captured: recorded.answer.captured,
  authorized: Math.max(recorded.answer.authorized, recorded.answer.captured),
  // The title says how the order was paid.
  clientParameters: isManualPayment(recorded.payment) ? recorded.payment.clientParameters : {},
})

/** Returns the lease of a payment whose answer brings nothing new. Returns the payment afterwards. */
export async function returnLease(
  tx: Writer,
  { paymentStore: store }: PaymentDeps,
  recorded: Omit<RecordedAnswer, 'answer'>,
): Promise<Payment> {
  const { payment, holder } = recorded
  if (payment.leaseHolder !== holder) return payment
  return (await store.change(tx, payment, [payment.status], noLease)) ?? payment
}

/**
 * Records captured money.
 * @param becomes the new status; undefined keeps it
 * @param at the time of the order's own change, so that a response from memory equals a later read
 * @returns the payment afterwards
 */
export async function recordCapture(
  tx: Writer,
  { paymentStore: store }: PaymentDeps,
  { becomes, at, ...recorded }: RecordedAnswer & { becomes?: 'CAPTURED' | 'FAILED' | 'VOIDED' | undefined; at: number },
): Promise<Payment> {
  const { payment } = recorded
  const captured = captureFields(recorded, at)
  const after =
    becomes === 'CAPTURED'
      ? await store.move(tx, payment, [...openPaymentStatuses, 'FAILED', 'VOIDED'], becomes, {
          ...captured,
          ...reopenedFields,
          failureCode: null,
        })
      : becomes
        ? await store.move(tx, payment, openPaymentStatuses, becomes, { ...captured, ...endedFields(recorded, at) })
        : await store.change(tx, payment, [payment.status], captured)
  if (!after) throw new Error('a payment changed under its lock')
  return after
}

/**
 * Ends a payment whose state cannot be learned, or that another one replaces.
 * @param isWatched whether its processor is queried by our id for a while, and told to void it if it appears
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

/** Adds refunded money to a payment. */
export async function recordRefunded(
  tx: Writer,
  { paymentStore: store, clock }: PaymentDeps,
  { paymentId, amount }: { paymentId: string; amount: number },
): Promise<void> {
  const payment = await store.get(tx, paymentId)
  if (payment) await store.change(tx, payment.id, [payment.status], { refunded: payment.refunded + amount, updatedAt: clock.now() })
}
