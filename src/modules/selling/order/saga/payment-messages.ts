/** What processors tell of payments, by signed messages and by callbacks: it is kept, and then asked of them. */
import { isDatabaseAway } from '../../../../../db/engine.ts'
import { locking } from '../../../../core/command-context.ts'
import { inLanes } from '../../../../core/partitioned-queue.ts'
import { dayMs } from '../../../../lib/day.ts'
import { hasNoReferences, isLost, isOpenPayment, type Payment, queryPauseMs } from '../../../payments/payment/domain.ts'
import {
  dueMessages,
  fetchPaymentStatus,
  paymentOfCallback,
  paymentOfMessage,
  receiveMessage,
  rescheduleMessage,
  type Sent,
  scheduleQuery,
  storePaidReference,
  storeReferences,
  takeMessage,
  takeQueryTurn,
} from '../../../payments/payment/index.ts'
import type { OrderDeps } from '../providers.ts'
import { recordDispute } from './disputes.ts'
import { continueWithAnswer, refreshPayment } from './resume-orders.ts'

type Message = NonNullable<Awaited<ReturnType<typeof takeMessage>>>

/** Of one run and one lane. */
const laneBatch = 100
const backoffFirstMs = 15_000
const backoffMaxMs = 60 * 60_000
/** A message may be faster than our own commit; a payment that is not there after so long is none of ours. */
const unknownMs = 60 * 60_000
/** A processor that tells of a payment, and does not say what became of it for so long, does not say it any more. */
const silentMs = 3 * dayMs

/**
 * Takes a processor's message: it is verified by its raw bytes, kept, and worked at once, for which nobody waits. What finds no place, or
 * breaks off, is taken up by the job.
 * @throws AppError UNAUTHENTICATED when no such processor is set up here, or the signature is none of its accounts'; UNAVAILABLE when that
 *   cannot be checked now; RATE_LIMITED
 */
export async function handleWebhook(deps: OrderDeps, sent: Sent): Promise<void> {
  for (const { id, processor } of await receiveMessage(deps, sent))
    deps.errands.placeIn(`message ${processor}`)?.begin(() => workMessage(deps, id, deps.clock.now()))
}

/**
 * Works the messages that are due, in a lane a processor.
 * @param dueBy on a file that nobody else has, what the last process left may be taken up at once
 * @returns how many there were
 */
export async function workMessages(deps: OrderDeps, dueBy = deps.clock.now()): Promise<number> {
  const due = await dueMessages(deps, dueBy, laneBatch)
  await inLanes(deps, 'message', due, (id) =>
    workMessage(deps, id, dueBy).catch((error: unknown) => deps.log.error('payment_message.not_worked', { id, error })),
  )
  return due.length
}

async function workMessage(deps: OrderDeps, id: string, dueBy: number): Promise<void> {
  const message = await takeMessage(deps, id, dueBy)
  if (!message) return
  const came = await heed(deps, message).catch((error: unknown) => {
    if (isDatabaseAway(error)) throw error
    deps.log.error('payment_message.not_worked', { id, error })
    return 'silent' as const
  })
  await rescheduleMessage(deps, message, nextAttemptAt(deps, message, came))
}

/** What came of a message: `unknown` when there is no such payment, `silent` when its processor does not say what became of it. */
type MessageResult = 'done' | 'unknown' | 'silent'

/** When a message is worked again; null: it is done, or given up. */
function nextAttemptAt(
  { clock, log }: OrderDeps,
  { id, processor, shopId, accountId, receivedAt, attempts, dispute }: Message,
  came: MessageResult,
): number | null {
  if (came === 'done') return null
  const now = clock.now()
  const isOver = now - receivedAt >= (came === 'unknown' ? unknownMs : silentMs)
  if (isOver && came === 'unknown' && dispute === null) log.info('payment_message.about_nothing', { id, processor })
  // Nothing of ours can be told of it, and somebody has lost money.
  if (isOver && came === 'unknown' && dispute !== null)
    log.error('payment_message.unknown_dispute', { id, processor, shop: shopId, account: accountId, ...dispute })
  if (isOver && came === 'silent') log.error('payment_message.given_up', { id, processor })
  return isOver ? null : now + Math.min(backoffMaxMs, backoffFirstMs * 2 ** Math.min(20, attempts - 1))
}

async function heed(deps: OrderDeps, message: Message): Promise<MessageResult> {
  const found = await paymentOfMessage(deps, message)
  if (!found) return 'unknown'
  const came = await queryPaymentOf(deps, found, message)
  const { dispute } = message
  // It takes no more than came in: what its processor says of that is noted first, where it says anything.
  const isKnown = came === 'done' || found.captured > 0
  if (dispute && isKnown) await deps.db.write((tx) => recordDispute(tx, deps, { payment: found, dispute }), locking)
  return came
}

/** Has a processor asked about the payment of a message, and its order taken on. */
async function queryPaymentOf(deps: OrderDeps, found: Payment, message: Message): Promise<'done' | 'silent'> {
  const answer = await fetchPaymentStatus(deps, withNamesOfMessage(found, message))
  if (answer === undefined || answer === 'unheard') return 'silent'
  const payment = found.processorReference === null ? await storeReferences(deps, found, answer) : found
  // Its name is another payment's, or has come by another way just now.
  if (!payment) return 'silent'
  return (await continueWithAnswer(deps, payment, answer)) === 'silent' ? 'silent' : 'done'
}

/** A payment of which no name is known, by the names that the message has for it: that is how one is found whose creation nobody heard of. */
const withNamesOfMessage = (payment: Payment, { reference, references }: Message): Payment =>
  payment.processorReference === null && reference !== null
    ? { ...payment, processorReference: reference, references: { ...payment.references, ...references } }
    : payment

/**
 * A processor that signs nothing has called the address of a payment: whatever it says, that one is asked about, at once and once in two
 * seconds at most. Where it cannot be now, the jobs do it.
 * @param paid what the processor calls what was paid, for a payment of which it has told no name
 * @throws AppError NOT_FOUND for an address that is none
 */
export async function handleCallback(deps: OrderDeps, token: string, paid: string | undefined): Promise<void> {
  const called = await paymentOfCallback(deps, token)
  const payment = (paid !== undefined && hasNoReferences(called) ? await storePaidReference(deps, called, paid) : called) ?? called
  if (isLost(payment)) {
    // It cannot be asked about without a name, and it is there.
    deps.log.error('payment.called_back_without_name', { order: payment.orderId, payment: payment.id, processor: payment.processor })
    return
  }
  const isTurn = await takeQueryTurn(deps, payment)
  const at = deps.clock.now() + (isTurn ? 0 : queryPauseMs)
  await deps.db.write((tx) =>
    isOpenPayment(payment) ? deps.orderStore.resumeSooner(tx, payment.orderId, at) : scheduleQuery(tx, deps, payment, at),
  )
  if (isTurn) deps.errands.placeIn(`callback ${payment.processor}`)?.begin(() => refreshPayment(deps, payment))
}
