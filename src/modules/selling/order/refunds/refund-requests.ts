import { type Actor, type Change, locking } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { isFree, noLease } from '../../../../core/leases.ts'
import { dayMs } from '../../../../lib/day.ts'
import { audit, audited } from '../../../operations/audit/index.ts'
import { canQueryPayment, capturedPayment } from '../../../payments/payment/index.ts'
import { isRefundable, type Refund, refundable, refundableTotal, refundParts } from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import { type RefundView, refundView } from '../view.ts'
import { applyRefundEffects, cancelWithoutRefund } from './refund-effects.ts'
import { type Asked, isOf, linesToRefund, requestedAmount } from './refund-lines.ts'
import { createRefund } from './refunds.ts'

export type RefundRequest = {
  shopId: string
  orderId: string
  asked: Asked
  reason: string | undefined
  /** What could still go back as whoever asks saw it, in minor units: where it is another by now, nothing does. Undefined: whatever it is. */
  seen?: number | undefined
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
export async function requestRefund(deps: OrderDeps, request: RefundRequest, purpose: 'REFUND'): Promise<Begun>
export async function requestRefund(deps: OrderDeps, request: RefundRequest, purpose: 'CANCEL'): Promise<Begun | undefined>
export async function requestRefund(deps: OrderDeps, request: RefundRequest, purpose: 'REFUND' | 'CANCEL'): Promise<Begun | undefined> {
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
    if (purpose === 'CANCEL' && order.fulfilmentStatus !== 'UNFULFILLED')
      throw new AppError('CONFLICT', 'An order of which something was sent cannot be cancelled: refund what is left')
    const allowed = purpose === 'CANCEL' ? order.status === 'CONFIRMED' : isRefundable(order)
    if (!allowed)
      throw new AppError('CONFLICT', `An order that is ${order.status} cannot be ${purpose === 'CANCEL' ? 'cancelled' : 'refunded'}`)
    if (before.some(isCancelling)) throw new AppError('CONFLICT', 'The order is being cancelled')
    // Should that fail, there would be more to give back than this one knows of.
    if (purpose === 'CANCEL' && before.some(({ status }) => status === 'PENDING'))
      throw new AppError('CONFLICT', 'A refund of the order is still under way')
    const { asked } = request
    const cards = await store.giftCards(order.id, tx)
    const total = request.seen === undefined ? undefined : refundableTotal(order, cards, before)
    if (request.seen !== total)
      throw new AppError('CONFLICT', `refundableTotal (body): ${total} by now, in minor units, and not ${request.seen}`)
    const lines = 'lines' in asked ? linesToRefund(await store.lines(order.id, tx), before, asked.lines) : []
    const parts = refundParts(refundable(order, cards, before), requestedAmount(asked, lines))
    const isEmpty = parts !== undefined && parts.amount + parts.giftCardAmount === 0
    // Of a line that cost nothing, or of the first unit of many for a cent, nothing goes back but the goods.
    if (!parts || (isEmpty && purpose === 'REFUND' && lines.length === 0))
      throw new AppError('CONFLICT', 'There is not that much left to refund')
    if (isEmpty && purpose === 'CANCEL') {
      await cancelWithoutRefund(tx, deps, order, request)
      return undefined
    }
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

/** A refund that its processor has said nothing of for so long may be paid by hand. */
const silentMs = 3 * dayMs

/**
 * Whether nobody but the shop's own people is going to pay a refund that is PENDING, so that it is not paid twice: its processor has said
 * nothing for days; or was tried, and certainly has not been told yet; or cannot be asked at all, since the account is not there any more.
 */
function isPayableByHand(refund: Refund, isAskable: boolean, now: number): boolean {
  if (refund.status !== 'PENDING' || !isFree(refund, '', now)) return false
  const isUnsent = refund.sentAt === null && refund.attempts > 0
  return isUnsent || !isAskable || now - refund.createdAt >= silentMs
}

/**
 * Notes that a refund which had to be paid by hand was: from then on its money has gone back, and its processor is told nothing of it.
 * @param reference what the shop calls that payment
 * @throws AppError NOT_FOUND; CONFLICT unless it is MANUAL, or PENDING and its processor is not going to pay it
 */
export async function settleByHand(
  deps: OrderDeps,
  by: Change,
  { orderId, refundId, reference }: { orderId: string; refundId: string; reference: string },
): Promise<RefundView> {
  const { orderStore: store } = deps
  const paymentId = (await store.findRefund(deps.db.read, refundId))?.paymentId
  const isAskable = !paymentId || (await canQueryPayment(deps, paymentId))
  return audited(deps, by, { action: 'order.refund_settled', subject: orderId }, async (tx, tell) => {
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
        `Only a refund that is MANUAL, or PENDING for three days or at a processor that cannot be asked, is paid by hand: this one is ${before.status}`,
      )
    await applyRefundEffects(tx, deps, { order, from: isSilent ? 'PENDING' : 'MANUAL', refund })
    const { status, amount } = refund
    tell({ before: { refund: refundId, status: before.status }, after: { refund: refundId, status, amount } })
    return refundView(refund)
  })
}
