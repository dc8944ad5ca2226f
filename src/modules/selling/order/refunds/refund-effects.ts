import type { Writer } from '../../../../../db/engine.ts'
import type { Actor } from '../../../../core/command-context.ts'
import { restock } from '../../../catalog/products/index.ts'
import { addSpending } from '../../../customers/customer/index.ts'
import { announceOrderStock } from '../../../messaging/live-events/index.ts'
import { enqueueMessage } from '../../../messaging/webhook/index.ts'
import { audit } from '../../../operations/audit/index.ts'
import { isCounted } from '../../../operations/kpi/index.ts'
import { recordMovements } from '../../../payments/ledger/index.ts'
import { byHandCode } from '../../../payments/payment/domain.ts'
import { recordRefunded } from '../../../payments/payment/index.ts'
import { reverseCommission } from '../../affiliate/index.ts'
import { giveBackDiscounts } from '../../discount/index.ts'
import { refundGiftCards } from '../../gift-card/index.ts'
import { isAssured, mustBeReturned, type Order, type Refund } from '../domain.ts'
import { appendEvent } from '../events.ts'
import { fulfilByRefund } from '../fulfilment/fulfilments.ts'
import { restockableUnits, unitsOf } from '../fulfilment/units.ts'
import { drawCreditNote } from '../invoice/invoices.ts'
import { mailClaim, mailRefunded } from '../mails.ts'
import type { OrderDeps } from '../providers.ts'
import { goodsRefunded, movementsOf, type RefundBooking, restockedUnits, unrefundedUnits, withRestocked } from './refund-lines.ts'

// The effects of a refund, inside the write that moves it. Goods, gift cards and the end of the sale follow once the
// refund is assured. Totals and bookings follow the money: when it goes back, and when it returns.

type RefundTransition = {
  readonly order: Order
  /** The status before this write. */
  readonly from: Refund['status']
  /** The refund after this write. */
  readonly refund: Refund
}

/**
 * Applies all effects of a refund's new status, once. This write has locked the order.
 * @returns the refund afterwards
 */
export async function applyRefundEffects(tx: Writer, deps: OrderDeps, moved: RefundTransition): Promise<Refund> {
  const { order, from, refund } = moved
  const { id, purpose, paymentId, status } = refund
  const isNew = from === 'PENDING'
  const money = status === 'SUCCEEDED' ? 'back' : from === 'SUCCEEDED' ? 'reversed' : undefined
  const amount = money === undefined ? 0 : money === 'back' ? refund.amount : -refund.amount
  if (paymentId !== null && money !== undefined) await recordRefunded(tx, deps, { paymentId, amount })
  await notifyRefund(tx, deps, moved)
  const movements = movementsOf(refund, order, { money, cards: isNew } satisfies RefundBooking, deps.clock.now())
  const counts = movements.some(({ confirmed }) => confirmed) && (await isCounted(tx, order))
  await recordMovements(tx, deps, movements, { isCounted: counts, mode: order.mode })
  if (purpose === 'LATE_CAPTURE') return refund
  const after = await addToOrderTotals(tx, deps, { order, amount, onCards: isNew ? refund.giftCardAmount : 0 })
  // In the lock order.
  const restocked = isNew ? await restockRefund(tx, deps, { order, refund }) : refund
  if (isNew) {
    await refundGiftCards(tx, deps, { orderId: order.id, refundId: id, amounts: refund.giftCards })
    for (const share of refund.giftCards) await deps.orderStore.refundGiftCard(tx, order.id, share.giftCardId, share.amount)
  }
  if (isNew && purpose !== 'CANCEL') await fulfilByRefund(tx, deps, { order, actor: refund.actor })
  if (!mustBeReturned(refund) && order.confirmedAt !== null) await updateSale(tx, deps, { before: order, after, ...moved })
  if (isNew && purpose === 'CANCEL') await cancelSale(tx, deps, { order, reason: refund.reason, actor: refund.actor })
  // Last, because all credit notes of the shop wait for the number.
  if (status === 'SUCCEEDED') await drawCreditNote(tx, deps, { order, refund })
  return restocked
}

/** Appends the event of a refund's new status, and queues its webhooks and mails. */
async function notifyRefund(tx: Writer, deps: OrderDeps, { order, from, refund }: RefundTransition): Promise<void> {
  const { id, amount, currency, reason, actor, status, failureCode, claimUrl } = refund
  const { id: orderId, shopId, number } = order
  const code = failureCode === null ? {} : { code: failureCode }
  const about = { id, amount: { amount, currency }, reason }
  switch (status) {
    case 'SUCCEEDED':
      await appendEvent(tx, deps, { orderId, type: 'REFUNDED', detail: { refund: id, amount: amount + refund.giftCardAmount }, actor })
      if (amount + refund.giftCardAmount > 0) await mailRefunded(tx, deps, order, refund)
      break
    case 'CLAIMABLE':
      await appendEvent(tx, deps, { orderId, type: 'REFUND_CLAIMABLE', detail: { refund: id, amount }, actor })
      await enqueueMessage(tx, deps, {
        shopId,
        event: 'order.refund_claimable',
        key: `order.refund_claimable:${id}`,
        data: { orderId, number, refund: { ...about, claimUrl } },
      })
      await mailClaim(tx, deps, order, refund)
      break
    case 'MANUAL':
      if (from === 'SUCCEEDED') await appendEvent(tx, deps, { orderId, type: 'REFUND_FAILED', detail: { refund: id, amount, ...code } })
      await appendEvent(tx, deps, { orderId, type: 'REFUND_MANUAL', detail: { refund: id, amount, ...code } })
      // The shop expects to return what it received by hand.
      deps.log[failureCode === byHandCode ? 'info' : 'error']('refund.manual', {
        order: orderId,
        refund: id,
        processor: refund.processor,
        code: failureCode,
      })
      await enqueueMessage(tx, deps, {
        shopId,
        event: 'order.refund_manual',
        key: `order.refund_manual:${id}`,
        data: { orderId, number, refund: { ...about, failureCode } },
      })
      break
    case 'PENDING':
    case 'FAILED':
      throw new Error(`a refund that is ${status} has no effects`)
  }
}

type OrderAndRefund = { order: Order; refund: Refund }

/**
 * Restocks the units that a refund names, or all that is left of an order that it cancels.
 * @returns the refund, whose lines say how many units went back
 */
async function restockRefund(tx: Writer, deps: OrderDeps, { order, refund }: OrderAndRefund): Promise<Refund> {
  const { orderStore: store } = deps
  const isCancelled = refund.purpose === 'CANCEL' && order.status === 'CONFIRMED'
  if (!isCancelled && !refund.lines.some(({ restock, returned }) => restock && !returned)) return refund
  const lines = await store.lines(order.id, tx)
  const refunds = await store.refundsOf(tx, order.id)
  await announceOrderStock(tx, deps, order)
  if (isCancelled) {
    await restock(tx, deps, unrefundedUnits(lines, refunds))
    return refund
  }
  const units = unitsOf(order, lines, await store.parcelsOf(tx, order.id), refunds)
  const moves = {
    refunds: refunds.filter(({ status }) => status !== 'FAILED'),
    earlier: refunds.filter((one) => one.id !== refund.id && isAssured(one)),
    received: await store.receivedReturns(tx, order.id),
  }
  const restockable = (lineId: string) => {
    const line = units.find((one) => one.lineId === lineId)
    return line ? restockableUnits(line, moves) : 0
  }
  const restocked = withRestocked(refund, lines, restockable)
  await restock(tx, deps, restockedUnits(restocked, lines))
  return (await store.changeRefund(tx, refund.id, [refund.status], { lines: restocked })) ?? refund
}

const totalRefunded = ({ refundedTotal, giftCardRefundedTotal }: Order): number => refundedTotal + giftCardRefundedTotal

/** Updates the shop's webhooks, the customer's spending and the affiliate's commission. */
async function updateSale(
  tx: Writer,
  deps: OrderDeps,
  { before, after, from, refund }: RefundTransition & { before: Order; after: Order },
): Promise<void> {
  const { id, currency, reason, status, purpose, settledReference } = refund
  const total = refund.amount + refund.giftCardAmount
  if (status === 'SUCCEEDED' && total > 0)
    await enqueueMessage(tx, deps, {
      shopId: after.shopId,
      event: 'order.refunded',
      key: `order.refunded:${id}${settledReference === null ? '' : ':settled'}`,
      data: { orderId: after.id, number: after.number, refund: { id, amount: { amount: total, currency }, reason } },
    })
  const spent = totalRefunded(before) - totalRefunded(after)
  if (after.customerId !== null && spent !== 0)
    await addSpending(tx, { customerId: after.customerId, currency, mode: after.mode, amount: spent })
  // A cancelled sale earns no commission, even while its refund is unclaimed.
  if (from === 'PENDING' && purpose === 'CANCEL')
    await reverseCommission(tx, deps, { orderId: after.id, refunded: after.total, of: after.total })
  else if (status === 'SUCCEEDED' && after.affiliateId !== null)
    await reverseCommission(tx, deps, {
      orderId: after.id,
      refunded: totalRefunded(after),
      of: after.total,
      goods: await refundedGoodsOf(tx, deps, after.id),
    })
}

/** Returns the refunded share of an order's goods, for its commission. */
async function refundedGoodsOf(tx: Writer, { orderStore: store }: OrderDeps, id: string): Promise<ReturnType<typeof goodsRefunded>> {
  const [lines, refunds] = await Promise.all([store.lines(id, tx), store.refundsOf(tx, id)])
  return goodsRefunded(lines, refunds)
}

type AddedRefund = { order: Order; amount: number; onCards: number }

async function addToOrderTotals(
  tx: Writer,
  { orderStore: store, clock }: OrderDeps,
  { order, amount, onCards }: AddedRefund,
): Promise<Order> {
  const totals = {
    refundedTotal: order.refundedTotal + amount,
    giftCardRefundedTotal: order.giftCardRefundedTotal + onCards,
  }
  const statusChange = amount === 0 && onCards === 0 ? {} : { paymentStatus: paymentStatusAfterRefund({ ...order, ...totals }) }
  return (await store.change(tx, order.id, [order.status], { ...totals, ...statusChange, updatedAt: clock.now() })) ?? order
}

type Totals = Pick<Order, 'confirmedAt' | 'capturedTotal' | 'refundedTotal' | 'giftCardTotal' | 'giftCardRefundedTotal'>

/**
 * Returns an order's payment status after a refund or its reversal. Gift cards paid nothing of an order without a
 * sale.
 */
export function paymentStatusAfterRefund({
  confirmedAt,
  capturedTotal,
  refundedTotal,
  giftCardTotal,
  giftCardRefundedTotal,
}: Totals): Order['paymentStatus'] {
  if (refundedTotal + giftCardRefundedTotal === 0) return 'CAPTURED'
  const areCardsBack = confirmedAt === null || giftCardRefundedTotal === giftCardTotal
  return refundedTotal === capturedTotal && areCardsBack ? 'REFUNDED' : 'PARTIALLY_REFUNDED'
}

type Cancellation = { order: Order; reason: string | null; actor: string }

/** Cancels a confirmed order in the write that assures its refund: its goods are not sent. */
async function cancelSale(tx: Writer, deps: OrderDeps, { order, reason, actor }: Cancellation): Promise<void> {
  const { orderStore: store } = deps
  if (!(await store.move(tx, order.id, ['CONFIRMED'], 'CANCELLED', { updatedAt: deps.clock.now() }))) return
  await appendEvent(tx, deps, { orderId: order.id, type: 'CANCELLED', detail: reason === null ? {} : { reason }, actor })
  await notifyCancelled(tx, deps, { order, reason })
}

/**
 * Cancels a sale that was refunded before or cost nothing, without a refund of zero. One that cost nothing counts as
 * unpaid.
 */
export async function cancelWithoutRefund(
  tx: Writer,
  deps: OrderDeps,
  order: Order,
  { reason, actor }: { reason: string | undefined; actor: Actor },
): Promise<void> {
  const { id, shopId, total } = order
  await announceOrderStock(tx, deps, order)
  await restock(tx, deps, unrefundedUnits(await deps.orderStore.lines(id, tx), await deps.orderStore.refundsOf(tx, id)))
  if (total === 0) {
    await giveBackDiscounts(tx, deps, order)
    await deps.orderStore.change(tx, id, ['CONFIRMED'], { paymentStatus: 'REFUNDED' })
  }
  await reverseCommission(tx, deps, { orderId: id, refunded: total, of: total })
  await cancelSale(tx, deps, { order, reason: reason ?? null, actor: actor.id })
  const difference = { before: { status: order.status }, after: { status: 'CANCELLED' } }
  await audit(tx, deps, { actor, action: 'order.cancelled', subject: id, shopId, ...difference })
}

/** Queues the webhook of a cancelled order. */
export const notifyCancelled = (tx: Writer, deps: OrderDeps, { order, reason }: { order: Order; reason: string | null }): Promise<void> =>
  enqueueMessage(tx, deps, {
    shopId: order.shopId,
    event: 'order.cancelled',
    key: `order.cancelled:${order.id}`,
    data: { orderId: order.id, number: order.number, reason },
  })

/** Returns the lines whose stock is counted. */
export const stockTrackedLines = (lines: readonly { variantId: string; quantity: number; tracked: boolean }[]) =>
  lines.filter(({ tracked }) => tracked).map(({ variantId, quantity }) => ({ variantId, quantity }))
