import type { Writer } from '../../../../../db/engine.ts'
import { type Actor, type CommandContext, locking } from '../../../../core/command-context.ts'
import { AppError, fieldError } from '../../../../core/errors.ts'
import { isLeaseFree, noLease } from '../../../../core/leases.ts'
import { dayMs } from '../../../../lib/day.ts'
import { decimalOf, decimalsOf, isCurrency } from '../../../../lib/money.ts'
import { audit, audited } from '../../../operations/audit/index.ts'
import { canQueryPayment, capturedPayment } from '../../../payments/payment/index.ts'
import { disableRefundedCards } from '../../gift-card/index.ts'
import { isRefundable, type Refund, refundable, refundableTotal, refundParts } from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import { type RefundView, refundView } from '../view.ts'
import { applyRefundEffects, cancelWithoutRefund } from './refund-effects.ts'
import { linesToRefund, matchesRequest, type RefundScope, requestedAmount } from './refund-lines.ts'
import { createRefund } from './refunds.ts'

/** The largest number of refunds of an order. The last one must refund all that is left. */
const refundsMax = 100

function tooLarge(left: number, currency: string): AppError {
  const text = `${decimalOf(left, isCurrency(currency) ? decimalsOf(currency) : 0)} ${currency}`
  return new AppError('CONFLICT', left === 0 ? 'Nothing of the order is left to refund' : `Only ${text} can still be refunded`, {
    code: 'refund_too_large',
  })
}

export type RefundRequest = {
  shopId: string
  orderId: string
  scope: RefundScope
  reason: string | undefined
  /**
   * The refundable total that the caller saw, in minor units. A different total is a conflict; undefined skips the
   * check.
   */
  expectedTotal?: number | undefined
  /** A retry continues with the same refund. */
  attemptKey: string
  actor: Actor
}

type RequestedRefund = { refund: Refund; isNew: boolean }

/**
 * Records a refund before its processor is called. A crash in between loses nothing, and two concurrent requests never
 * refund more than there is.
 * @returns the refund, and whether this call made it; undefined if nothing was left to refund, and this write
 *   cancelled the sale
 * @throws AppError NOT_FOUND; CONFLICT; INVALID for lines that the order does not have
 */
export async function requestRefund(deps: OrderDeps, request: RefundRequest, purpose: 'REFUND'): Promise<RequestedRefund>
export async function requestRefund(deps: OrderDeps, request: RefundRequest, purpose: 'CANCEL'): Promise<RequestedRefund | undefined>
export async function requestRefund(
  deps: OrderDeps,
  request: RefundRequest,
  purpose: 'REFUND' | 'CANCEL',
): Promise<RequestedRefund | undefined> {
  return deps.db.write((tx) => recordRefund(tx, deps, request, purpose), locking)
}

/**
 * Records a refund as `requestRefund` does, inside a write that locks.
 * @throws AppError as `requestRefund`
 */
export async function recordRefund(
  tx: Writer,
  deps: OrderDeps,
  request: RefundRequest,
  purpose: 'REFUND' | 'CANCEL',
): Promise<RequestedRefund | undefined> {
  const { orderStore: store } = deps
  const order = await store.lock(tx, request.orderId)
  if (order?.shopId !== request.shopId) throw new AppError('NOT_FOUND', 'No such order')
  const before = await store.refundsOf(tx, order.id)
  const existing = before.find(({ attemptKey }) => attemptKey === request.attemptKey)
  if (existing) {
    if (matchesRequest(request.scope, existing)) return { refund: existing, isNew: false }
    throw fieldError('INCOMPLETE', 'idempotency-key', 'this key was used for another refund of this order: use a new key', {
      code: 'idempotency_key_reused',
    })
  }
  if (purpose === 'CANCEL' && order.fulfilmentStatus !== 'UNFULFILLED')
    throw new AppError('CONFLICT', 'An order with fulfilments cannot be cancelled. Refund the rest instead', {
      code: 'invalid_transition',
    })
  const allowed = purpose === 'CANCEL' ? order.status === 'CONFIRMED' : isRefundable(order)
  if (!allowed)
    throw new AppError('CONFLICT', `An order that is ${order.status} cannot be ${purpose === 'CANCEL' ? 'cancelled' : 'refunded'}`, {
      code: 'invalid_transition',
    })
  if (before.some(isCancelling)) throw new AppError('CONFLICT', 'The order is being cancelled', { code: 'refund_in_progress' })
  // If that refund failed, more would be left to refund than this one takes.
  if (purpose === 'CANCEL' && before.some(({ status }) => status === 'PENDING'))
    throw new AppError('CONFLICT', 'A refund of the order is in progress. Try again when it has ended', { code: 'refund_in_progress' })
  const { scope } = request
  const cards = await store.giftCards(order.id, tx)
  const total = request.expectedTotal === undefined ? undefined : refundableTotal(order, cards, before)
  if (request.expectedTotal !== total)
    throw fieldError('CONFLICT', 'refundableTotal', `is now ${total} in minor units. Read the order again`, { code: 'order_changed' })
  const lines = 'lines' in scope ? linesToRefund(await store.lines(order.id, tx), before, scope.lines) : []
  const parts = refundParts(refundable(order, cards, before), requestedAmount(scope, lines))
  const isEmpty = parts !== undefined && parts.amount + parts.giftCardAmount === 0
  // A free line, or a unit worth less than a cent, returns only the goods.
  if (!parts || (isEmpty && purpose === 'REFUND' && lines.length === 0))
    throw tooLarge(refundableTotal(order, cards, before), order.currency)
  if (isEmpty && purpose === 'CANCEL') {
    await cancelWithoutRefund(tx, deps, order, request)
    return undefined
  }
  const left = refundableTotal(order, cards, before) - parts.amount - parts.giftCardAmount
  if (before.length >= refundsMax - 1 && left > 0)
    throw new AppError('CONFLICT', `An order can have at most ${refundsMax} refunds: the last one must refund all that is left`, {
      code: 'limit_reached',
    })
  const payment = parts.amount > 0 ? await capturedPayment(tx, deps, order.id) : undefined
  const { attemptKey, reason, actor, shopId } = request
  const refund = await createRefund(tx, deps, {
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
  await disableRefundedCards(tx, deps, { orderId: order.id, refundId: refund.id, lines, left })
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
}

/** Returns whether this refund is cancelling its order. */
export const isCancelling = ({ purpose, status }: Pick<Refund, 'purpose' | 'status'>): boolean =>
  purpose === 'CANCEL' && status === 'PENDING'

/** After this time without an answer a refund may be paid by hand. */
const unansweredMs = 3 * dayMs

/**
 * Returns whether the shop may pay a PENDING refund by hand, so that it is not paid twice: its processor has not
 * answered for days, has certainly not received it, or cannot be queried because its account is gone.
 */
function isPayableByHand(refund: Refund, isAskable: boolean, now: number): boolean {
  if (refund.status !== 'PENDING' || !isLeaseFree(refund, '', now)) return false
  const isUnsent = refund.sentAt === null && refund.attempts > 0
  return isUnsent || !isAskable || now - refund.createdAt >= unansweredMs
}

/**
 * Records that a refund was paid by hand. Its processor is not told.
 * @param reference the shop's own reference of that payment
 * @throws AppError NOT_FOUND; CONFLICT unless it is MANUAL, or PENDING and its processor will not pay it
 */
export async function settleByHand(
  deps: OrderDeps,
  by: CommandContext,
  { orderId, refundId, reference }: { orderId: string; refundId: string; reference: string },
): Promise<RefundView> {
  const { orderStore: store } = deps
  const paymentId = (await store.findRefund(deps.db.read, refundId))?.paymentId
  const isAskable = !paymentId || (await canQueryPayment(deps, paymentId))
  return audited(deps, by, { action: 'order.refund_settled', subject: orderId }, async (tx, setDifference) => {
    const order = await store.lock(tx, orderId)
    if (order?.shopId !== by.shop.id) throw new AppError('NOT_FOUND', 'No such order')
    const before = await store.lockRefund(tx, refundId)
    if (before?.orderId !== orderId) throw new AppError('NOT_FOUND', 'No such refund')
    const now = deps.clock.now()
    const isSilent = isPayableByHand(before, isAskable, now)
    const change = { settledReference: reference, resumeAt: null, ...noLease, updatedAt: now }
    const refund = await store.moveRefund(tx, refundId, isSilent ? ['MANUAL', 'PENDING'] : ['MANUAL'], 'SUCCEEDED', change)
    if (!refund)
      throw new AppError(
        'CONFLICT',
        `Only a refund that is MANUAL, or PENDING for three days or at a processor that cannot be queried, can be paid by hand. This one is ${before.status}`,
        { code: 'invalid_transition' },
      )
    const settled = await applyRefundEffects(tx, deps, { order, from: isSilent ? 'PENDING' : 'MANUAL', refund })
    const { status, amount } = settled
    setDifference({ before: { refund: refundId, status: before.status }, after: { refund: refundId, status, amount } })
    return refundView(settled)
  })
}
