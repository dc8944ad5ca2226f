import type { Writer } from '../../../db/engine.ts'
import type { RefundAnswer } from '../../clients/processors/processor.ts'
import { type Actor, locking } from '../../core/change.ts'
import { AppError } from '../../core/errors.ts'
import { isFree, leaseMs, leaseOf, noLease } from '../../core/leases.ts'
import { dayMs } from '../../lib/day.ts'
import { reverseCommission } from '../affiliate/index.ts'
import { audit } from '../audit/index.ts'
import { restock } from '../catalog/index.ts'
import { addSpending } from '../customer/index.ts'
import { refundGiftCards } from '../gift-card/index.ts'
import { recordMovements } from '../ledger/index.ts'
import type { Payment } from '../payment/domain.ts'
import { askRefund, capturedPayment, noteRefunded, paymentsWithin } from '../payment/index.ts'
import { enqueueMessage } from '../webhook/index.ts'
import {
  backoffMs,
  cameToNothing,
  isOwed,
  type Order,
  type OrderStatus,
  type Refund,
  type RefundParts,
  refundable,
  refundParts,
  resumeAfterMs,
  type Saga,
  unawaited,
} from './domain.ts'
import type { Drive } from './drive.ts'
import { appendEvent } from './events.ts'
import type { OrderDeps } from './parts.ts'
import { type Asked, amountAsked, isOf, leftOf, linesBack, movementsOf, type RefundedLine, shelvedBy } from './refund-parts.ts'

type NewRefund = Pick<Refund, 'purpose' | 'attemptKey'> & {
  order: Order
  payment: Payment | undefined
  parts: RefundParts
  lines?: RefundedLine[]
  reason?: string | null | undefined
  actor?: string
  /** Who goes on to tell the processor. */
  holder: string
}

/** Writes down that money is to go back, before its processor is asked: `settleRefund` does that. */
export async function beginMoneyBack(
  tx: Writer,
  { orderStore, newId, clock }: OrderDeps,
  { order, purpose, attemptKey, payment, parts, lines = [], reason, actor = 'system', holder }: NewRefund,
): Promise<Refund> {
  const now = clock.now()
  const through = parts.amount > 0 ? payment : undefined
  const refund: Refund = {
    id: newId('refund'),
    orderId: order.id,
    shopId: order.shopId,
    paymentId: through?.id ?? null,
    processor: through?.processor ?? null,
    processorReference: null,
    currency: order.currency,
    ...parts,
    lines,
    reason: reason ?? null,
    purpose,
    attemptKey,
    actor,
    status: 'PENDING',
    failureCode: null,
    claimUrl: null,
    settledReference: null,
    attempts: 0,
    resumeAt: now + resumeAfterMs,
    sentAt: now,
    ...leaseOf(holder, now),
    createdAt: now,
    updatedAt: now,
  }
  await orderStore.insertRefund(tx, refund)
  return refund
}

/**
 * Begins to give back what nobody waits for, of all the payments of an order, inside the write that found it so.
 * @param saga the order and its payments as this write leaves them
 * @returns the refunds, which `settleRefund` asks for
 */
export async function returnUnawaited(
  tx: Writer,
  deps: OrderDeps,
  { order, payments }: Saga,
  holder: string,
  { reason, actor }: { reason: string | null; actor: string } = { reason: null, actor: 'system' },
): Promise<Refund[]> {
  // What is captured and counts is the rule: then nothing was refunded yet that matters here.
  if (payments.every((payment) => unawaited(order, payment, []) === 0)) return []
  const before = await deps.orderStore.refundsOf(tx, order.id)
  const purpose = cameToNothing(order) ? 'COMPENSATE' : 'LATE_CAPTURE'
  const begun: Refund[] = []
  for (const payment of payments) {
    const amount = unawaited(order, payment, before)
    if (amount === 0) continue
    const failed = before.filter((refund) => refund.paymentId === payment.id && refund.purpose === purpose && refund.status === 'FAILED')
    const attemptKey = [purpose, payment.id, payment.captured, ...(failed.length > 0 ? [failed.length] : [])].join(':')
    const parts = { amount, giftCardAmount: 0, giftCards: [] }
    begun.push(await beginMoneyBack(tx, deps, { order, purpose, attemptKey, payment, parts, reason, actor, holder }))
  }
  return begun
}

/** Orders of which money may go back by request: those that were confirmed, and not cancelled. */
const refundableStatuses: readonly OrderStatus[] = ['CONFIRMED', 'FULFILLED', 'COMPLETED']

export type RefundRequest = {
  shopId: string
  orderId: string
  asked: Asked
  reason: string | undefined
  /** The same request sent again goes on with the same refund. */
  attemptKey: string
  actor: Actor
}

type Begun = { refund: Refund; isNew: boolean }

/**
 * Notes that money is to go back, in a write of its own before the processor is asked: a crash in between loses nothing, and
 * two at once never give back more than there is.
 * @returns the refund, and whether this call made it; undefined where nothing was left to give back, and the sale is cancelled by that write
 * @throws AppError NOT_FOUND, CONFLICT; INVALID for lines that the order does not have
 */
export async function beginRefund(deps: OrderDeps, request: RefundRequest, purpose: 'REFUND'): Promise<Begun>
export async function beginRefund(deps: OrderDeps, request: RefundRequest, purpose: 'CANCEL'): Promise<Begun | undefined>
export async function beginRefund(deps: OrderDeps, request: RefundRequest, purpose: 'REFUND' | 'CANCEL'): Promise<Begun | undefined> {
  const { orderStore: store } = deps
  return deps.db.write(async (tx) => {
    const order = await store.lock(tx, request.orderId)
    if (order?.shopId !== request.shopId) throw new AppError('NOT_FOUND', 'No such order')
    const before = await store.refundsOf(tx, order.id)
    const known = before.find(({ attemptKey }) => attemptKey === request.attemptKey)
    if (known) {
      if (isOf(request.asked, known)) return { refund: known, isNew: false }
      throw new AppError('INCOMPLETE', 'idempotency-key (header): already used for another refund of this order')
    }
    const allowed = purpose === 'CANCEL' ? order.status === 'CONFIRMED' : refundableStatuses.includes(order.status)
    if (!allowed)
      throw new AppError('CONFLICT', `An order that is ${order.status} cannot be ${purpose === 'CANCEL' ? 'cancelled' : 'refunded'}`)
    if (before.some(isCancelling)) throw new AppError('CONFLICT', 'The order is being cancelled')
    // Should that fail, there would be more to give back than this one knows of.
    if (purpose === 'CANCEL' && before.some(({ status }) => status === 'PENDING'))
      throw new AppError('CONFLICT', 'A refund of the order is still under way')
    const { asked } = request
    const lines = 'lines' in asked ? linesBack(await store.lines(order.id, tx), before, asked.lines) : []
    const parts = refundParts(refundable(order, await store.giftCards(order.id, tx), before), amountAsked(asked, lines))
    const isEmpty = parts !== undefined && parts.amount + parts.giftCardAmount === 0
    // Of a line that cost nothing, or of the first unit of many for a cent, nothing goes back but the goods.
    if (!parts || (isEmpty && purpose === 'REFUND' && lines.length === 0))
      throw new AppError('CONFLICT', 'There is not that much left to refund')
    if (isEmpty && purpose === 'CANCEL') {
      await cancelAtOnce(tx, deps, order, request)
      return undefined
    }
    const payment = parts.amount > 0 ? await capturedPayment(tx, deps, order.id) : undefined
    const { attemptKey, reason, actor, shopId } = request
    const refund = await beginMoneyBack(tx, deps, {
      order,
      purpose,
      attemptKey,
      payment,
      parts,
      lines,
      reason,
      actor: actor.id,
      holder: attemptKey,
    })
    const detail = { refund: refund.id, amount: parts.amount + parts.giftCardAmount }
    await appendEvent(tx, deps, {
      orderId: order.id,
      type: purpose === 'CANCEL' ? 'CANCEL_REQUESTED' : 'REFUND_REQUESTED',
      detail,
      actor: actor.id,
    })
    const action = purpose === 'CANCEL' ? 'order.cancel_requested' : 'order.refund_requested'
    await audit(tx, deps, { actor, action, subject: order.id, shopId, after: { ...detail, currency: order.currency } })
    return { refund, isNew: true }
  }, locking)
}

/** Whether an order is on its way to CANCELLED by this refund. */
export const isCancelling = ({ purpose, status }: Pick<Refund, 'purpose' | 'status'>): boolean =>
  purpose === 'CANCEL' && status === 'PENDING'

/**
 * Asks the processor to give money back and notes that it did. Called again, it goes on where it was; of many at once one asks.
 * @param isNew the write before this call made the refund: the processor cannot know it yet
 * @returns the refund as it is then, or the one that was begun in its place: PENDING when the processor has not answered; the job asks again
 */
export async function settleRefund(
  deps: OrderDeps,
  refundId: string,
  { holder }: Pick<Drive, 'holder'>,
  { isNew = false }: { isNew?: boolean } = {},
): Promise<Refund> {
  const found = await deps.orderStore.findRefund(deps.db.read, refundId)
  if (!found) throw new AppError('NOT_FOUND', 'No such refund')
  if (found.status !== 'PENDING') return found
  // With a whole call's time left of the lease from the write that made it. Whoever stood still since may not be the first to send it.
  const isUnsent = isNew && found.leaseHolder === holder && (found.leaseUntil ?? 0) - deps.clock.now() > leaseMs / 2
  const refund = isUnsent ? found : await leased(deps, found, holder)
  if (!refund) return found
  const answer = await answerOf(deps, refund, !isUnsent && found.sentAt !== null)
  if (answer === undefined || answer.state === 'PENDING') return postpone(deps, refund, answer, holder)
  if (answer.state === 'FAILED')
    return isOwed(refund) ? insist(deps, refund, answer, holder) : fail(deps, refund, answer.failureCode ?? 'refused')
  return succeed(deps, refund, answer.reference ?? null)
}

/** Takes a refund for a call. Undefined while somebody else has it: then the job looks again once they cannot have it any more. */
async function leased({ db, clock, orderStore: store }: OrderDeps, refund: Refund, holder: string): Promise<Refund | undefined> {
  const now = clock.now()
  return db.write(async (tx) => {
    const taken = await store.leaseRefund(tx, refund, holder, now)
    const isDue = refund.resumeAt !== null && refund.resumeAt <= now
    if (!taken && isDue && !isFree(refund, holder, now))
      await store.changeRefund(tx, refund.id, ['PENDING'], { resumeAt: refund.leaseUntil })
    return taken
  }, locking)
}

/**
 * A processor that refuses to give back what is owed is asked again, for as long as it takes; the log tells the operator. One that it has
 * made, and that failed there, stays failed: another one is begun.
 */
function insist(deps: OrderDeps, refund: Refund, answer: RefundAnswer, holder: string): Promise<Refund> {
  const { id, orderId, processor } = refund
  deps.log.error('refund.failed', { order: orderId, refund: id, processor, code: answer.failureCode })
  return answer.reference === undefined ? postpone(deps, refund, answer, holder) : beginAgain(deps, refund, answer, holder)
}

/** What failed at a bank does so again a moment later. */
const owedAgainMs = dayMs

/** Ends a refund that has failed, and begins another one of the same money in the same write, which is sent a day later. Returns that one. */
async function beginAgain(deps: OrderDeps, refund: Refund, answer: RefundAnswer, holder: string): Promise<Refund> {
  const { orderStore: store } = deps
  const { id, orderId, reason, actor } = refund
  const begun = await deps.db.write(async (tx) => {
    const order = await store.lock(tx, orderId)
    const { reference = null, failureCode = 'refused' } = answer
    const updatedAt = deps.clock.now()
    const change = { processorReference: reference, failureCode, resumeAt: null, ...noLease, updatedAt }
    if (!order || !(await store.moveRefund(tx, id, ['PENDING'], 'FAILED', change))) return undefined
    await appendEvent(tx, deps, { orderId, type: 'REFUND_FAILED', detail: { refund: id, code: failureCode } })
    const payments = await paymentsWithin(tx, deps, orderId)
    const [next] = await returnUnawaited(tx, deps, { order, payments }, holder, { reason, actor })
    const later = { sentAt: null, resumeAt: updatedAt + owedAgainMs, ...noLease }
    return next && store.changeRefund(tx, next.id, ['PENDING'], later)
  }, locking)
  return begun ?? (await store.findRefund(deps.db.read, id)) ?? refund
}

async function answerOf(
  deps: OrderDeps,
  { id, orderId, paymentId, amount, currency, processorReference }: Refund,
  wasSent: boolean,
): Promise<RefundAnswer | undefined> {
  if (amount > 0 && paymentId === null) throw new Error('a refund of captured money without its payment')
  if (paymentId === null) return { reference: id, state: 'SUCCEEDED' }
  const refundReference = processorReference ?? undefined
  return askRefund(deps, { refundId: id, orderId, paymentId, amount, currency, refundReference, wasSent })
}

/** Notes what the processor calls a refund, and when it is asked about it again: unless somebody else is asking by now, who does. */
async function postpone(
  { db, clock, orderStore: store }: OrderDeps,
  refund: Refund,
  answer: RefundAnswer | undefined,
  holder: string,
): Promise<Refund> {
  const changed = await db.write(async (tx) => {
    const now = clock.now()
    const current = await store.lockRefund(tx, refund.id)
    if (!current) return undefined
    const attempts = current.attempts + 1
    const processorReference = answer?.reference ?? current.processorReference
    const next = isFree(current, holder, now) ? { attempts, resumeAt: now + backoffMs(attempts), ...noLease } : {}
    return store.changeRefund(tx, refund.id, ['PENDING'], { processorReference, ...next, updatedAt: now })
  }, locking)
  return changed ?? refund
}

async function fail(deps: OrderDeps, refund: Refund, failureCode: string): Promise<Refund> {
  const { id, orderId, processor } = refund
  deps.log.error('refund.failed', { order: orderId, refund: id, processor, code: failureCode })
  const failed = await deps.db.write(async (tx) => {
    await deps.orderStore.lock(tx, orderId)
    const change = { failureCode, resumeAt: null, ...noLease, updatedAt: deps.clock.now() }
    const changed = await deps.orderStore.moveRefund(tx, id, ['PENDING'], 'FAILED', change)
    if (changed) await appendEvent(tx, deps, { orderId, type: 'REFUND_FAILED', detail: { refund: id, code: failureCode } })
    return changed
  }, locking)
  return failed ?? refund
}

/** Money has gone back: everything that follows from it happens in one write, once. */
async function succeed(deps: OrderDeps, refund: Refund, processorReference: string | null): Promise<Refund> {
  const { orderStore: store } = deps
  const done = await deps.db.write(async (tx) => {
    const order = await store.lock(tx, refund.orderId)
    if (!order) throw new Error('a refund without its order')
    const change = { processorReference, resumeAt: null, ...noLease, updatedAt: deps.clock.now() }
    const settled = await store.moveRefund(tx, refund.id, ['PENDING'], 'SUCCEEDED', change)
    if (!settled) return undefined
    await noteSettled(tx, deps, { order, refund: settled })
    return settled
  }, locking)
  return done ?? (await store.findRefund(deps.db.read, refund.id)) ?? refund
}

type Settled = { order: Order; refund: Refund }

async function noteSettled(tx: Writer, deps: OrderDeps, { order, refund }: Settled): Promise<void> {
  const { id, purpose, paymentId, actor } = refund
  const total = refund.amount + refund.giftCardAmount
  if (paymentId !== null) await noteRefunded(tx, deps, { paymentId, amount: refund.amount })
  await appendEvent(tx, deps, { orderId: order.id, type: 'REFUNDED', detail: { refund: id, amount: total }, actor })
  await recordMovements(tx, deps, movementsOf(refund, order, deps.clock.now()))
  if (purpose === 'LATE_CAPTURE') return
  await noteOnOrder(tx, deps, { order, refund })
  // In the order in which everybody locks: variants, gift cards, the customer's numbers.
  await putBack(tx, deps, { order, refund })
  await refundGiftCards(tx, deps, { orderId: order.id, refundId: id, amounts: refund.giftCards })
  for (const { giftCardId, amount } of refund.giftCards) await deps.orderStore.refundGiftCard(tx, order.id, giftCardId, amount)
  if (purpose === 'REFUND' || purpose === 'CANCEL') await followRequest(tx, deps, { order, refund })
  if (purpose === 'CANCEL') await cancelSale(tx, deps, { order, reason: refund.reason, actor })
}

/** What goes back on the shelf with a refund: the units that it says, or all that is left of an order that is cancelled with it. */
async function putBack(tx: Writer, deps: OrderDeps, { order, refund }: Settled): Promise<void> {
  const { orderStore: store } = deps
  const isCancelled = refund.purpose === 'CANCEL' && order.status === 'CONFIRMED'
  if (!isCancelled && !refund.lines.some((line) => line.restock)) return
  const lines = await store.lines(order.id, tx)
  await restock(tx, deps, isCancelled ? leftOf(lines, await store.refundsOf(tx, order.id)) : shelvedBy(refund, lines))
}

/** What follows from money that somebody asked to give back: the shop's endpoints, the customer and the partner learn of it. */
async function followRequest(tx: Writer, deps: OrderDeps, { order, refund }: Settled): Promise<void> {
  const { id, currency, reason } = refund
  const total = refund.amount + refund.giftCardAmount
  if (total > 0)
    await enqueueMessage(tx, deps, {
      shopId: order.shopId,
      event: 'order.refunded',
      key: `order.refunded:${id}`,
      data: { orderId: order.id, number: order.number, refund: { id, amount: { amount: total, currency }, reason } },
    })
  if (order.customerId !== null) await addSpending(tx, { customerId: order.customerId, currency, mode: order.mode, amount: -total })
  const refunded = order.refundedTotal + order.giftCardRefundedTotal + total
  await reverseCommission(tx, deps, { orderId: order.id, refunded, of: order.total })
}

async function noteOnOrder(tx: Writer, { orderStore: store, clock }: OrderDeps, { order, refund }: Settled): Promise<void> {
  const refundedTotal = order.refundedTotal + refund.amount
  const giftCardRefundedTotal = order.giftCardRefundedTotal + refund.giftCardAmount
  const isWhole =
    refundedTotal === order.capturedTotal && (refund.purpose === 'COMPENSATE' || giftCardRefundedTotal === order.giftCardTotal)
  const isNothing = refund.purpose === 'REFUND' && refund.amount + refund.giftCardAmount === 0
  await store.change(tx, order.id, [order.status], {
    refundedTotal,
    giftCardRefundedTotal,
    ...(isNothing ? {} : { paymentStatus: isWhole ? 'REFUNDED' : 'PARTIALLY_REFUNDED' }),
    updatedAt: clock.now(),
  })
}

type Cancelled = { order: Order; reason: string | null; actor: string }

/** A confirmed order whose money went back is cancelled in the same write. */
async function cancelSale(tx: Writer, deps: OrderDeps, { order, reason, actor }: Cancelled): Promise<void> {
  const { orderStore: store } = deps
  if (!(await store.move(tx, order.id, ['CONFIRMED'], 'CANCELLED', { updatedAt: deps.clock.now() }))) return
  await appendEvent(tx, deps, { orderId: order.id, type: 'CANCELLED', detail: reason === null ? {} : { reason }, actor })
  await tellCancelled(tx, deps, { order, reason })
}

/** Cancels a sale whose money went back before, or that cost nothing: a refund of nothing would say that there was one. */
async function cancelAtOnce(tx: Writer, deps: OrderDeps, order: Order, { reason, actor }: RefundRequest): Promise<void> {
  const { id, shopId, total } = order
  await restock(tx, deps, leftOf(await deps.orderStore.lines(id, tx), await deps.orderStore.refundsOf(tx, id)))
  await reverseCommission(tx, deps, { orderId: id, refunded: total, of: total })
  await cancelSale(tx, deps, { order, reason: reason ?? null, actor: actor.id })
  const difference = { before: { status: order.status }, after: { status: 'CANCELLED' } }
  await audit(tx, deps, { actor, action: 'order.cancelled', subject: id, shopId, ...difference })
}

/** Tells the shop's endpoints that an order was cancelled. */
export const tellCancelled = (tx: Writer, deps: OrderDeps, { order, reason }: { order: Order; reason: string | null }): Promise<void> =>
  enqueueMessage(tx, deps, {
    shopId: order.shopId,
    event: 'order.cancelled',
    key: `order.cancelled:${order.id}`,
    data: { orderId: order.id, number: order.number, reason },
  })

/** Of the lines, those whose stock is counted. */
export const trackedLines = (lines: readonly { variantId: string; quantity: number; tracked: boolean }[]) =>
  lines.filter(({ tracked }) => tracked).map(({ variantId, quantity }) => ({ variantId, quantity }))
