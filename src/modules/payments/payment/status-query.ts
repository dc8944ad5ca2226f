/** Turns to query a processor about a payment, for waiting callers, callbacks and the sweep. */
import { isUniqueViolation, type Writer } from '../../../../db/engine.ts'
import type { ProcessorPayment } from '../../../clients/processors/processor.ts'
import { locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { DueItem } from '../../../core/partitioned-queue.ts'
import { paymentIdOfCallback } from './callbacks.ts'
import { canBeQueried, hasNoReferences, type Payment, sweepAgainAt, sweepAt, unansweredMs } from './domain.ts'
import type { PaymentDeps } from './providers.ts'

/**
 * Finds the payment of a callback URL. A forged token is refused without a query.
 * @throws AppError NOT_FOUND
 */
export async function paymentOfCallback({ instanceKeys, paymentStore }: PaymentDeps, token: string): Promise<Payment> {
  const id = paymentIdOfCallback(await instanceKeys.of('PAYMENT_CALLBACKS'), token)
  const payment = id === undefined ? undefined : await paymentStore.find(id)
  if (!payment) throw new AppError('NOT_FOUND', 'No such callback')
  return payment
}

/**
 * Stores the name from the callback of a processor that signs nothing, if the payment has no reference: a payment
 * whose creation was not answered is found by it.
 * @returns the payment with it; undefined if it has another by now
 */
export const storePaidReference = ({ db, paymentStore }: PaymentDeps, payment: Payment, paid: string): Promise<Payment | undefined> =>
  db.write(async (tx) => {
    const current = await paymentStore.get(tx, payment.id)
    if (!current || !hasNoReferences(current)) return current
    return paymentStore.change(tx, current, [current.status], { references: { payment: paid } })
  }, locking)

/** Takes the turn to query a payment for a waiting caller or a callback: one in two seconds, over all processes. */
export async function takeQueryTurn({ db, clock, paymentStore }: PaymentDeps, payment: Payment): Promise<boolean> {
  const now = clock.now()
  return canBeQueried(payment, now) && db.write((tx) => paymentStore.recordQuery(tx, payment.id, now), locking)
}

/** Makes the sweep query a payment by `askAt`, inside a write. */
export const scheduleQuery = (tx: Writer, { paymentStore }: PaymentDeps, { id }: Pick<Payment, 'id'>, askAt: number): Promise<void> =>
  paymentStore.queryBy(tx, id, askAt)

/**
 * Stores the references by which a processor found a payment without one.
 * @returns the payment with them; undefined if they belong to another payment, or it has others by now
 */
export async function storeReferences(
  { db, paymentStore }: PaymentDeps,
  { id, references }: Payment,
  { reference: processorReference, references: newReferences }: ProcessorPayment,
): Promise<Payment | undefined> {
  try {
    return await db.write(
      (tx) => paymentStore.name(tx, id, { processorReference, references: { ...references, ...newReferences } }),
      locking,
    )
  } catch (error) {
    if (isUniqueViolation(error)) return undefined
    throw error
  }
}

/** Returns ended payments to query by `now`, up to a limit for each processor. */
export const paymentsDueForQuery = ({ paymentStore }: PaymentDeps, now: number, limit: number): Promise<DueItem[]> =>
  paymentStore.dueForQuery(now, limit)

/**
 * Takes a payment that is due for a query. Without an answer it is due again in ten minutes.
 * @returns undefined if another run has it or nothing is left to ask
 */
export async function takeSweepTurn({ db, clock, paymentStore }: PaymentDeps, id: string): Promise<Payment | undefined> {
  const payment = await paymentStore.find(id)
  const now = clock.now()
  if (!payment || payment.askAt === null || payment.askAt > now) return undefined
  const askAt = now + unansweredMs
  return (await db.write((tx) => paymentStore.setNextQuery(tx, payment, askAt), locking)) ? { ...payment, askAt } : undefined
}

/** Sets a payment's next query: with growing pauses after an answer, soon after silence, until the watch ends. */
export async function endSweepTurn(
  { db, clock, log, paymentStore }: PaymentDeps,
  { id, orderId, processor }: Payment,
  answer: 'answered' | 'unanswered',
): Promise<void> {
  const payment = await paymentStore.find(id)
  // It is open again or paid, and its order's saga handles it.
  if (!payment || payment.askAt === null) return
  const now = clock.now()
  const { endedAt, askedAt, createdAt } = payment
  const afterAnswerAt = endedAt === null ? null : sweepAt(endedAt, now)
  const next = answer === 'answered' ? afterAnswerAt : sweepAgainAt(endedAt ?? askedAt ?? createdAt, now)
  if (answer === 'unanswered' && next === null) log.error('payment.never_told', { order: orderId, payment: id, processor })
  await db.write((tx) => paymentStore.setNextQuery(tx, payment, next), locking)
}
