/** Whose turn it is to ask a processor about a payment, and what is kept of it: for those who wait, for what calls, and for the sweep. */
import { isUniqueViolation, type Writer } from '../../../../db/engine.ts'
import type { ProcessorPayment } from '../../../clients/processors/processor.ts'
import { locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { Due } from '../../../core/partitioned-queue.ts'
import { paymentIdOfCallback } from './callbacks.ts'
import { canBeQueried, hasNoReferences, type Payment, silentMs, sweepAgainAt, sweepAt } from './domain.ts'
import type { PaymentDeps } from './providers.ts'

/**
 * The payment that a callback's address was made for. Any other token is refused before anything is looked up.
 * @throws AppError NOT_FOUND
 */
export async function paymentOfCallback({ instanceKeys, paymentStore }: PaymentDeps, token: string): Promise<Payment> {
  const id = paymentIdOfCallback(await instanceKeys.of('PAYMENT_CALLBACKS'), token)
  const payment = id === undefined ? undefined : await paymentStore.find(id)
  if (!payment) throw new AppError('NOT_FOUND', 'No such callback')
  return payment
}

/**
 * Keeps the name by which a processor that signs nothing calls what was paid, of a payment of which it had told us none: that is how one is
 * found whose creation nobody heard of.
 * @returns the payment with it; undefined when there is another by now
 */
export const storePaidReference = ({ db, paymentStore }: PaymentDeps, payment: Payment, paid: string): Promise<Payment | undefined> =>
  db.write(async (tx) => {
    const current = await paymentStore.get(tx, payment.id)
    if (!current || !hasNoReferences(current)) return current
    return paymentStore.change(tx, current, [current.status], { references: { payment: paid } })
  }, locking)

/** Takes the turn to ask a payment's processor for somebody who waits, or because it called: there is one in two seconds, over all processes. */
export async function takeQueryTurn({ db, clock, paymentStore }: PaymentDeps, payment: Payment): Promise<boolean> {
  const now = clock.now()
  return canBeQueried(payment, now) && db.write((tx) => paymentStore.noteAsked(tx, payment.id, now), locking)
}

/** Has the sweep ask about a payment by `askAt`, inside a write. */
export const scheduleQuery = (tx: Writer, { paymentStore }: PaymentDeps, { id }: Pick<Payment, 'id'>, askAt: number): Promise<void> =>
  paymentStore.askSooner(tx, id, askAt)

/**
 * Keeps the names by which a processor has found a payment of which it had told us none.
 * @returns the payment with them; undefined when they are another payment's, or it has got others meanwhile
 */
export async function storeReferences(
  { db, paymentStore }: PaymentDeps,
  { id, references }: Payment,
  { reference: processorReference, references: told }: ProcessorPayment,
): Promise<Payment | undefined> {
  try {
    return await db.write((tx) => paymentStore.name(tx, id, { processorReference, references: { ...references, ...told } }), locking)
  } catch (error) {
    if (isUniqueViolation(error)) return undefined
    throw error
  }
}

/** Payments that are to be asked about by `now`, so many of each processor. */
export const paymentsDueForQuery = ({ paymentStore }: PaymentDeps, now: number, limit: number): Promise<Due[]> =>
  paymentStore.toAsk(now, limit)

/**
 * Takes a payment that is to be asked about now. Until something is said, it is asked about again in ten minutes.
 * @returns undefined when somebody else has it, or there is nothing to ask any more
 */
export async function takeSweepTurn({ db, clock, paymentStore }: PaymentDeps, id: string): Promise<Payment | undefined> {
  const payment = await paymentStore.find(id)
  const now = clock.now()
  if (!payment || payment.askAt === null || payment.askAt > now) return undefined
  const askAt = now + silentMs
  return (await db.write((tx) => paymentStore.putOffAsking(tx, payment, askAt), locking)) ? { ...payment, askAt } : undefined
}

/** Says when a payment is asked about next: ever more rarely; or soon again where its processor was silent, until that makes no sense any more. */
export async function endSweepTurn(
  { db, clock, log, paymentStore }: PaymentDeps,
  { id, orderId, processor }: Payment,
  answer: 'said' | 'silent',
): Promise<void> {
  const payment = await paymentStore.find(id)
  // Under way again, or paid: somebody else looks after it.
  if (!payment || payment.askAt === null) return
  const now = clock.now()
  const { endedAt, askedAt, createdAt } = payment
  const saidAt = endedAt === null ? null : sweepAt(endedAt, now)
  const next = answer === 'said' ? saidAt : sweepAgainAt(endedAt ?? askedAt ?? createdAt, now)
  if (answer === 'silent' && next === null) log.error('payment.never_told', { order: orderId, payment: id, processor })
  await db.write((tx) => paymentStore.putOffAsking(tx, payment, next), locking)
}
