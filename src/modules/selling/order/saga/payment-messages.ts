/**
 * Processes webhooks and callbacks of processors: stores each, then queries the processor for the state of its
 * payment.
 */
import { isDatabaseAway } from '../../../../../db/engine.ts'
import { locking } from '../../../../core/command-context.ts'
import { runInLanes } from '../../../../core/partitioned-queue.ts'
import { dayMs } from '../../../../lib/day.ts'
import { hasNoReferences, isOpenPayment, type Payment, queryPauseMs } from '../../../payments/payment/domain.ts'
import {
  dueMessages,
  fetchPaymentStatus,
  type IncomingWebhook,
  paymentOfCallback,
  paymentOfMessage,
  receiveMessage,
  rescheduleMessage,
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

/** Webhooks of one lane in one run. */
const laneBatch = 100
const backoffFirstMs = 15_000
const backoffMaxMs = 60 * 60_000
/** A webhook may arrive before our own commit. After this time an unknown payment is not ours. */
const unknownMs = 60 * 60_000
/** After this time without an answer a webhook is given up. */
const unansweredMs = 3 * dayMs

/**
 * Verifies a processor's webhook, stores it and starts to process it in the background. The job processes what finds
 * no slot or fails.
 * @throws AppError UNAUTHENTICATED when the processor is not set up or no account's signature matches; UNAVAILABLE
 *   when that cannot be checked now; RATE_LIMITED
 */
export async function handleWebhook(deps: OrderDeps, sent: IncomingWebhook): Promise<void> {
  for (const { id, processor } of await receiveMessage(deps, sent))
    deps.backgroundTasks.start(`message ${processor}`, () => workMessage(deps, id, deps.clock.now()))
}

/**
 * Processes the webhooks that are due, one lane for each processor.
 * @param dueBy later than now to take over what a previous process left, if no other process can hold it
 * @returns their number
 */
export async function workMessages(deps: OrderDeps, dueBy = deps.clock.now()): Promise<number> {
  const due = await dueMessages(deps, dueBy, laneBatch)
  await runInLanes(deps, 'message', due, (id) =>
    workMessage(deps, id, dueBy).catch((error: unknown) => deps.log.error('payment_message.not_worked', { id, error })),
  )
  return due.length
}

async function workMessage(deps: OrderDeps, id: string, dueBy: number): Promise<void> {
  const message = await takeMessage(deps, id, dueBy)
  if (!message) return
  const result = await handleMessage(deps, message).catch((error: unknown) => {
    if (isDatabaseAway(error)) throw error
    deps.log.error('payment_message.not_worked', { id, error })
    return 'unanswered' as const
  })
  await rescheduleMessage(deps, message, nextAttemptAt(deps, message, result))
}

/** `unknown`: no such payment; `unanswered`: its processor did not answer. */
type MessageResult = 'done' | 'unknown' | 'unanswered'

/** Returns when a webhook is processed again; null when it is done or given up. */
function nextAttemptAt(
  { clock, log }: OrderDeps,
  { id, processor, shopId, accountId, receivedAt, attempts, dispute }: Message,
  result: MessageResult,
): number | null {
  if (result === 'done') return null
  const now = clock.now()
  const isOver = now - receivedAt >= (result === 'unknown' ? unknownMs : unansweredMs)
  if (isOver && result === 'unknown' && dispute === null) log.info('payment_message.about_nothing', { id, processor })
  // Money is lost, and no order shows it.
  if (isOver && result === 'unknown' && dispute !== null)
    log.error('payment_message.unknown_dispute', { id, processor, shop: shopId, account: accountId, ...dispute })
  if (isOver && result === 'unanswered') log.error('payment_message.given_up', { id, processor })
  return isOver ? null : now + Math.min(backoffMaxMs, backoffFirstMs * 2 ** Math.min(20, attempts - 1))
}

async function handleMessage(deps: OrderDeps, message: Message): Promise<MessageResult> {
  const found = await paymentOfMessage(deps, message)
  if (!found) return 'unknown'
  const result = await queryPaymentOf(deps, found, message)
  const { dispute } = message
  // A dispute takes at most what was captured, so that is recorded first.
  const isKnown = result === 'done' || found.captured > 0
  if (dispute && isKnown) await deps.db.write((tx) => recordDispute(tx, deps, { payment: found, dispute }), locking)
  return result
}

/** Queries the processor about a webhook's payment and runs its order's saga. */
async function queryPaymentOf(deps: OrderDeps, found: Payment, message: Message): Promise<'done' | 'unanswered'> {
  const answer = await fetchPaymentStatus(deps, withNamesOfMessage(found, message))
  if (answer === undefined || answer === 'notFound') return 'unanswered'
  const payment = found.processorReference === null ? await storeReferences(deps, found, answer) : found
  // The reference belongs to another payment, or changed just now.
  if (!payment) return 'unanswered'
  return (await continueWithAnswer(deps, payment, answer)) === 'unanswered' ? 'unanswered' : 'done'
}

/** Adds a webhook's references to a payment without one: a payment whose creation was not answered is found by them. */
const withNamesOfMessage = (payment: Payment, { reference, references }: Message): Payment =>
  payment.processorReference === null && reference !== null
    ? { ...payment, processorReference: reference, references: { ...payment.references, ...references } }
    : payment

/**
 * Handles a callback of a processor that signs nothing: queries the payment of its URL, at most once in two seconds.
 * The jobs do it if it cannot be done now.
 * @param paid the processor's name for what was paid, used if the payment has none
 * @throws AppError NOT_FOUND for an unknown URL
 */
export async function handleCallback(deps: OrderDeps, token: string, paid: string | undefined): Promise<void> {
  const called = await paymentOfCallback(deps, token)
  const payment = (paid !== undefined && hasNoReferences(called) ? await storePaidReference(deps, called, paid) : called) ?? called
  if (payment.status !== 'PENDING' && hasNoReferences(payment)) {
    // The invoice exists but cannot be queried without a reference, also after the payment was given up.
    deps.log.error('payment.called_back_without_name', { order: payment.orderId, payment: payment.id, processor: payment.processor })
    return
  }
  const isTurn = await takeQueryTurn(deps, payment)
  const at = deps.clock.now() + (isTurn ? 0 : queryPauseMs)
  await deps.db.write((tx) =>
    isOpenPayment(payment) ? deps.orderStore.resumeSooner(tx, payment.orderId, at) : scheduleQuery(tx, deps, payment, at),
  )
  if (isTurn) deps.backgroundTasks.start(`callback ${payment.processor}`, () => refreshPayment(deps, payment))
}
