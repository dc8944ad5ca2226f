import type { Writer } from '../../../db/engine.ts'
import { ProcessorRefused, ProcessorUnavailable, type RefundAnswer } from '../../clients/processors/processor.ts'
import { AppError } from '../../core/errors.ts'
import type { Keep } from '../../core/idempotency.ts'
import { dayOf } from '../../lib/day.ts'
import { prepareReversal } from '../affiliate/service.ts'
import { type Actor, audit } from '../audit/service.ts'
import { prepareStock } from '../catalog/service.ts'
import { addSpending } from '../customer/service.ts'
import { prepareGiftCardRefund } from '../gift-card/service.ts'
import { prepareMovements } from '../ledger/service.ts'
import { prepareMessage } from '../webhook/service.ts'
import { eventOf, type OrderDeps } from './deps.ts'
import {
  backoffMs,
  type Order,
  type OrderStatus,
  type Payment,
  type Refund,
  type RefundParts,
  refundable,
  refundParts,
  resumeAfterMs,
} from './domain.ts'

/** A refund as it begins. */
export const newRefund = (
  { clock }: Pick<OrderDeps, 'clock'>,
  order: Order,
  given: {
    id: string
    purpose: Refund['purpose']
    attemptKey: string
    payment: Payment | undefined
    parts: RefundParts
    reason?: string | undefined
    actor?: string
  },
): Refund => ({
  id: given.id,
  orderId: order.id,
  shopId: order.shopId,
  paymentId: given.parts.amount > 0 ? (given.payment?.id ?? null) : null,
  processor: given.parts.amount > 0 ? (given.payment?.processor ?? null) : null,
  processorReference: null,
  currency: order.currency,
  amount: given.parts.amount,
  giftCardAmount: given.parts.giftCardAmount,
  giftCards: given.parts.giftCards,
  reason: given.reason ?? null,
  purpose: given.purpose,
  attemptKey: given.attemptKey,
  actor: given.actor ?? 'system',
  status: 'PENDING',
  failureCode: null,
  attempts: 0,
  resumeAt: clock.now() + resumeAfterMs,
  createdAt: clock.now(),
  updatedAt: clock.now(),
})

/** Orders of which money may go back by request: those that were confirmed, and not cancelled. */
const refundableStatuses: readonly OrderStatus[] = ['CONFIRMED', 'FULFILLED', 'COMPLETED']

export type RefundRequest = {
  shopId: string
  orderId: string
  /** Minor units; undefined: all that is left. */
  amount: number | undefined
  reason: string | undefined
  /** The same request sent again goes on with the same refund. */
  attemptKey: string
  actor: Actor
}

/**
 * Notes that money is to go back, in a write of its own before the processor is asked: a crash in between loses nothing, and
 * two at once never give back more than there is.
 * @throws AppError NOT_FOUND, CONFLICT
 */
export async function beginRefund(deps: OrderDeps, request: RefundRequest, purpose: 'REFUND' | 'CANCEL'): Promise<Refund> {
  const { orderStore: store } = deps
  const id = deps.newId('refund')
  const event = eventOf(deps, request.orderId, purpose === 'CANCEL' ? 'CANCEL_REQUESTED' : 'REFUND_REQUESTED', {}, request.actor.id)
  const record = audit(deps, request.actor, {
    action: purpose === 'CANCEL' ? 'order.cancel_requested' : 'order.refund_requested',
    subject: request.orderId,
    shopId: request.shopId,
  })
  return deps.db.write(async (tx) => {
    const order = await store.get(tx, request.orderId)
    if (order?.shopId !== request.shopId) throw new AppError('NOT_FOUND', 'No such order')
    const before = await store.refundsOf(tx, order.id)
    const known = before.find(({ attemptKey }) => attemptKey === request.attemptKey)
    if (known) {
      if (request.amount === undefined || request.amount === known.amount + known.giftCardAmount) return known
      throw new AppError('INCOMPLETE', 'idempotency-key (header): already used for another refund of this order')
    }
    const allowed = purpose === 'CANCEL' ? order.status === 'CONFIRMED' : refundableStatuses.includes(order.status)
    if (!allowed)
      throw new AppError('CONFLICT', `An order that is ${order.status} cannot be ${purpose === 'CANCEL' ? 'cancelled' : 'refunded'}`)
    if (before.some(isCancelling)) throw new AppError('CONFLICT', 'The order is being cancelled')
    // Should that fail, there would be more to give back than this one knows of.
    if (purpose === 'CANCEL' && before.some(({ status }) => status === 'PENDING'))
      throw new AppError('CONFLICT', 'A refund of the order is still under way')
    const parts = refundParts(refundable(order, await store.giftCardsOf(tx, order.id), before), request.amount)
    const isEmpty = parts !== undefined && parts.amount + parts.giftCardAmount === 0
    if (!parts || (isEmpty && purpose === 'REFUND')) throw new AppError('CONFLICT', 'There is not that much left to refund')
    const payment = parts.amount > 0 ? await store.capturedPayment(tx, order.id) : undefined
    const { attemptKey, reason, actor } = request
    const refund = newRefund(deps, order, { id, purpose, attemptKey, payment, parts, reason, actor: actor.id })
    await store.insertRefund(tx, refund)
    await store.appendEvent(tx, { ...event, detail: { refund: id, amount: parts.amount + parts.giftCardAmount } })
    await record(tx)
    return refund
  })
}

/** Whether an order is on its way to CANCELLED by this refund. */
export const isCancelling = ({ purpose, status }: Pick<Refund, 'purpose' | 'status'>): boolean =>
  purpose === 'CANCEL' && status === 'PENDING'

/**
 * Asks the processor to give money back and notes that it did. Called again, it goes on where it was.
 * @returns the refund as it is then: PENDING when the processor has not answered; the job asks again
 */
export async function settleRefund(deps: OrderDeps, refundId: string, keep?: Keep, view?: (refund: Refund) => unknown): Promise<Refund> {
  const { orderStore: store } = deps
  const refund = await store.findRefund(deps.db.read, refundId)
  if (!refund) throw new AppError('NOT_FOUND', 'No such refund')
  if (refund.status !== 'PENDING') return refund
  const answer = await answerOf(deps, refund)
  if (answer === undefined || answer.state === 'PENDING') return postpone(deps, refund)
  if (answer.state === 'FAILED') return isOwed(refund) ? insist(deps, refund, answer) : fail(deps, refund, answer.failureCode ?? 'refused')
  return succeed(deps, refund, answer.reference, keep, view)
}

/** Money that nobody may keep: that of an order which came to nothing, or which came too late. */
const isOwed = ({ purpose }: Refund): boolean => purpose === 'COMPENSATE' || purpose === 'LATE_CAPTURE'

/** A processor that refuses to give back what is owed is asked again, for as long as it takes; the log tells the operator. */
function insist(deps: OrderDeps, refund: Refund, { failureCode }: RefundAnswer): Promise<Refund> {
  deps.log.error('refund.failed', { refund: refund.id, processor: refund.processor, code: failureCode })
  return postpone(deps, refund)
}

async function answerOf(deps: OrderDeps, refund: Refund): Promise<RefundAnswer | undefined> {
  if (refund.amount > 0 && refund.paymentId === null) throw new Error('a refund of captured money without its payment')
  if (refund.paymentId === null) return { reference: refund.id, state: 'SUCCEEDED' }
  const processor = deps.processors.get(refund.processor ?? '')
  const payment = await deps.orderStore.findPayment(refund.paymentId)
  if (!processor || !payment) {
    deps.log.error('refund.processor_missing', { refund: refund.id, processor: refund.processor })
    return undefined
  }
  try {
    const { id: paymentId, processorReference } = payment
    const { id: refundId, amount, currency } = refund
    return await processor.refund({ paymentId, reference: processorReference ?? undefined, refundId, amount, currency })
  } catch (error) {
    if (error instanceof ProcessorRefused) return { reference: refund.id, state: 'FAILED', failureCode: error.code }
    if (!(error instanceof ProcessorUnavailable)) throw error
    deps.log.warn('refund.no_answer', { refund: refund.id, processor: processor.name, error })
    return undefined
  }
}

async function postpone(deps: OrderDeps, refund: Refund): Promise<Refund> {
  const attempts = refund.attempts + 1
  const now = deps.clock.now()
  const changed = await deps.db.write((tx) =>
    deps.orderStore.changeRefund(tx, refund.id, { attempts, resumeAt: now + backoffMs(attempts), updatedAt: now }),
  )
  return changed ?? refund
}

async function fail(deps: OrderDeps, refund: Refund, failureCode: string): Promise<Refund> {
  const now = deps.clock.now()
  const event = eventOf(deps, refund.orderId, 'REFUND_FAILED', { refund: refund.id, code: failureCode })
  deps.log.error('refund.failed', { refund: refund.id, processor: refund.processor, code: failureCode })
  const changed = await deps.db.write(async (tx) => {
    const failed = await deps.orderStore.changeRefund(tx, refund.id, { status: 'FAILED', failureCode, resumeAt: null, updatedAt: now })
    if (failed) await deps.orderStore.appendEvent(tx, event)
    return failed
  })
  return changed ?? refund
}

/** Money has gone back: everything that follows from it happens in one write, once. */
async function succeed(
  deps: OrderDeps,
  refund: Refund,
  processorReference: string,
  keep: Keep | undefined,
  view: (refund: Refund) => unknown = () => undefined,
): Promise<Refund> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  const order = await store.find(refund.orderId)
  if (!order) throw new Error('a refund without its order')
  const total = refund.amount + refund.giftCardAmount
  const event = eventOf(deps, order.id, 'REFUNDED', { refund: refund.id, amount: total }, refund.actor)
  const toCards = prepareGiftCardRefund(deps, { orderId: order.id, refundId: refund.id, amounts: refund.giftCards })
  const books = prepareMovements(deps, movementsOf(refund, order, now))
  const { id, purpose, currency, reason } = refund
  const asked = purpose === 'REFUND' || purpose === 'CANCEL'
  const message = prepareMessage(deps, {
    shopId: order.shopId,
    event: 'order.refunded',
    key: `order.refunded:${id}`,
    data: { orderId: order.id, number: order.number, refund: { id, amount: { amount: total, currency }, reason } },
    held: false,
  })
  const cancelling = purpose === 'CANCEL' ? prepareCancellation(deps, order, refund) : undefined
  const changed = await deps.db.write(async (tx) => {
    const done = await store.changeRefund(tx, id, { status: 'SUCCEEDED', processorReference, resumeAt: null, updatedAt: now })
    if (!done) return undefined
    const current = await store.get(tx, order.id)
    if (!current) throw new Error('a refund without its order')
    await noteOnPayment(tx, deps, done, now)
    await store.appendEvent(tx, event)
    await books(tx)
    if (purpose === 'LATE_CAPTURE') return done
    await noteOnOrder(tx, deps, current, done, now)
    await toCards(tx)
    for (const { giftCardId, amount } of done.giftCards) await store.refundGiftCard(tx, order.id, giftCardId, amount)
    if (asked) {
      if (total > 0) await message(tx)
      if (current.customerId !== null) await addSpending(tx, { customerId: current.customerId, currency, amount: -total })
      const refunded = current.refundedTotal + current.giftCardRefundedTotal + total
      await prepareReversal(deps, { orderId: order.id, refunded, of: current.total })(tx)
    }
    await cancelling?.(tx)
    await keep?.(tx, view(done))
    return done
  })
  return changed ?? (await store.findRefund(deps.db.read, id)) ?? refund
}

async function noteOnPayment(tx: Writer, { orderStore: store }: OrderDeps, refund: Refund, now: number): Promise<void> {
  const payment = refund.paymentId === null ? undefined : await store.getPayment(tx, refund.paymentId)
  if (payment) await store.changePayment(tx, payment.id, [payment.status], { refunded: payment.refunded + refund.amount, updatedAt: now })
}

async function noteOnOrder(tx: Writer, { orderStore: store }: OrderDeps, order: Order, refund: Refund, now: number): Promise<void> {
  const refundedTotal = order.refundedTotal + refund.amount
  const giftCardRefundedTotal = order.giftCardRefundedTotal + refund.giftCardAmount
  const isWhole =
    refundedTotal === order.capturedTotal && (refund.purpose === 'COMPENSATE' || giftCardRefundedTotal === order.giftCardTotal)
  await store.change(tx, order.id, [order.status], {
    refundedTotal,
    giftCardRefundedTotal,
    paymentStatus: isWhole ? 'REFUNDED' : 'PARTIALLY_REFUNDED',
    updatedAt: now,
  })
}

/** What the projection is told: of money that was never a sale, that it came and that it went. */
function movementsOf(refund: Refund, order: Order, now: number): Parameters<typeof prepareMovements>[1] {
  const confirmed = order.confirmedAt !== null && refund.purpose !== 'LATE_CAPTURE'
  const common = {
    shopId: order.shopId,
    orderId: order.id,
    // Of a sale: an order that came to nothing was nobody's doing.
    affiliateId: confirmed ? order.affiliateId : null,
    currency: refund.currency,
    at: now,
    rateDay: dayOf(confirmed && order.confirmedAt !== null ? order.confirmedAt : now),
    confirmed,
  }
  const processor = refund.processor ?? 'gift_card'
  return [
    ...(refund.amount > 0 ? [{ ...common, kind: 'REFUND' as const, key: `refund:${refund.id}`, processor, amount: refund.amount }] : []),
    ...(refund.amount > 0 && !confirmed
      ? [{ ...common, kind: 'CAPTURE' as const, key: `capture:${refund.paymentId}`, processor, amount: refund.amount }]
      : []),
    ...refund.giftCards.map(({ giftCardId, amount }) => ({
      ...common,
      kind: 'GIFT_CARD_REFUND' as const,
      key: `gift-card-refund:${refund.id}:${giftCardId}`,
      processor: 'gift_card',
      amount,
    })),
  ]
}

/** A confirmed order whose money went back is cancelled in the same write, and its goods go back on the shelf. */
function prepareCancellation(deps: OrderDeps, order: Order, { reason, actor }: Refund): (tx: Writer) => Promise<void> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  const stock = prepareStock(deps)
  const event = eventOf(deps, order.id, 'CANCELLED', reason === null ? {} : { reason }, actor)
  const tell = cancelledMessage(deps, order, reason)
  return async (tx) => {
    if (!(await store.change(tx, order.id, ['CONFIRMED'], { status: 'CANCELLED', updatedAt: now }))) return
    await stock.restock(tx, trackedLines(await store.linesOf(tx, order.id)))
    await store.appendEvent(tx, event)
    await tell(tx)
  }
}

/** Tells the shop's endpoints that an order was cancelled. */
export const cancelledMessage = (deps: OrderDeps, order: Order, reason: string | null): ((tx: Writer) => Promise<void>) =>
  prepareMessage(deps, {
    shopId: order.shopId,
    event: 'order.cancelled',
    key: `order.cancelled:${order.id}`,
    data: { orderId: order.id, number: order.number, reason },
    held: false,
  })

/** Of the lines, those whose stock is counted. */
export const trackedLines = (lines: readonly { variantId: string; quantity: number; tracked: boolean }[]) =>
  lines.filter(({ tracked }) => tracked).map(({ variantId, quantity }) => ({ variantId, quantity }))
