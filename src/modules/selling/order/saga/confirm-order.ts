import type { Writer } from '../../../../../db/engine.ts'
import { dayOf } from '../../../../lib/day.ts'
import { commitPromisedStock, commitStock, releaseStock, restock } from '../../../catalog/products/index.ts'
import { addSpending } from '../../../customers/customer/index.ts'
import { tellStockOf } from '../../../messaging/live-events/index.ts'
import { enqueueMessage } from '../../../messaging/webhook/index.ts'
import { rateFor } from '../../../payments/fx/index.ts'
import { type Movement, recordMovements } from '../../../payments/ledger/index.ts'
import { attributeOrder, removeCommission } from '../../affiliate/index.ts'
import { giveBackDiscounts } from '../../discount/index.ts'
import { releaseGiftCards } from '../../gift-card/index.ts'
import { type Order, type OrderEvent, type OrderGiftCard, type OrderLine, paymentOf, type Saga } from '../domain.ts'
import { appendEvents, type Told } from '../events.ts'
import { mailConfirmed } from '../mails.ts'
import type { OrderDeps } from '../providers.ts'
import { stockTrackedLines } from '../refunds/refund-effects.ts'
import type { OrderContents, SagaContext } from './saga-context.ts'

// What is ours alone: a paid order becomes a sale, or one that came to nothing gives back what it held, in one write each.

/** They are read with the order's lock, not after it: the server answers both at once. */
export async function readOrderContents(tx: Writer, { orderStore }: OrderDeps, orderId: string): Promise<OrderContents> {
  const [lines, giftCards] = await Promise.all([orderStore.lines(orderId, tx), orderStore.giftCards(orderId, tx)])
  return { lines, giftCards }
}

/** What an order shows of its money once it is paid. */
export const paidOrderFields = (capturedTotal: number) => ({ paymentStatus: 'CAPTURED', capturedTotal }) as const

/** What is to be made a sale: the order as its write has found it, and its payments. */
type Sale = Saga & {
  readonly parts: OrderContents
  /** What is captured by now, of an order that waits for its payment: it becomes PAID on the way. */
  readonly capturedTotal?: number | undefined
  /** What has happened just before, and is written with it. */
  readonly told?: readonly Told[]
  /** All events of an order that this run has made: then nothing is read, and what is not as it was known is NothingChanged. New ones are added. */
  readonly trail?: OrderEvent[] | undefined
}

/**
 * Makes a sale of an order that is PAID, or becomes it, inside the write that found it so: its stock leaves the shelf, its gift cards are
 * spent, its partner earns, the shop is told and the books have it, at the exchange rate of this day. Nothing but that rate and the partner
 * is waited for before all of it is sent.
 * @param context whose request is answered with it, if any
 */
export async function confirm(
  tx: Writer,
  deps: OrderDeps,
  { order, payments, parts, capturedTotal, told = [], trail }: Sale,
  context?: SagaContext,
): Promise<Saga> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  const { id, currency, customerId, total } = order
  const { lines, giftCards } = parts
  const [affiliateId, rate] = await Promise.all([attributeOrder(tx, deps, order), rateFor(tx, currency, dayOf(now))])
  const sold = {
    ...(capturedTotal === undefined ? {} : paidOrderFields(capturedTotal)),
    affiliateId: affiliateId ?? null,
    holds: 'COMMITTED',
    confirmedAt: now,
    fxToUsd: rate?.usdPerUnit ?? null,
    attempts: 0,
    resumeAt: null,
    updatedAt: now,
  } as const
  const [confirmed, , , , , , , , events, refunds] = await Promise.all([
    order.status === 'PENDING_PAYMENT'
      ? store.moveThrough(tx, order, ['PENDING_PAYMENT'], 'PAID', 'CONFIRMED', sold)
      : store.move(tx, order, ['PAID'], 'CONFIRMED', sold),
    appendEvents(tx, deps, id, [...told, { type: 'CONFIRMED' }], trail),
    order.holds === 'HELD' ? (trail ? commitPromisedStock : commitStock)(tx, deps, stockTrackedLines(lines)) : undefined,
    giftCards.length > 0 ? store.settleGiftCards(tx, id, now) : undefined,
    customerId === null ? undefined : addSpending(tx, { customerId, currency, mode: order.mode, amount: total }),
    notifyConfirmed(tx, deps, order, lines),
    mailConfirmed(tx, deps, order, lines),
    book(tx, deps, { order: { ...order, ...sold }, payments }, parts),
    context?.keep && (trail ?? store.eventsOf(tx, id)),
    context?.keep && (trail ? [] : store.refundsOf(tx, id)),
  ])
  if (!confirmed) throw new Error('an order that was to be confirmed is not PAID')
  const whole = events &&
    refunds && { order: confirmed, lines, giftCards, events, payments, refunds, disputes: [], fulfilments: [], notes: [] }
  if (whole) await context?.keep?.(tx, whole, trail !== undefined)
  return { order: confirmed, payments }
}

const notifyConfirmed = (
  tx: Writer,
  deps: OrderDeps,
  { id, shopId, number, currency, total, customerId, email }: Order,
  lines: readonly OrderLine[],
): Promise<void> =>
  enqueueMessage(tx, deps, {
    shopId,
    event: 'order.confirmed',
    key: `order.confirmed:${id}`,
    data: {
      orderId: id,
      number,
      customerId,
      email,
      total: { amount: total, currency },
      lines: lines.map(({ productId, variantId, quantity }) => ({ productId, variantId, quantity })),
    },
  })

/** Tells the books of a sale, and the dashboards. No shop goes live while one of its orders is unfinished, so this one counts. */
function book(
  tx: Writer,
  deps: OrderDeps,
  saga: Saga & { order: { confirmedAt: number } },
  { lines, giftCards }: OrderContents,
): Promise<void> {
  const { id, shopId, mode, currency, affiliateId, confirmedAt: at } = saga.order
  const movements = saleMovements(saga, giftCards, at)
  const processor = movements[0]?.processor ?? 'none'
  return recordMovements(tx, deps, movements, {
    isCounted: true,
    mode,
    sold: { id, shopId, mode, currency, affiliateId, at, processor, lines },
  })
}

/** What the books have of a sale: what was captured for it, and what each gift card paid. */
function saleMovements(saga: Saga, giftCards: readonly OrderGiftCard[], now: number): Movement[] {
  const { id: orderId, shopId, affiliateId, currency, capturedTotal } = saga.order
  const common = { shopId, orderId, affiliateId, currency, at: now, rateDay: dayOf(now), confirmed: true }
  const payment = capturedTotal > 0 ? paymentOf(saga) : undefined
  const captured = payment && [
    { ...common, kind: 'CAPTURE' as const, key: `capture:${payment.id}`, processor: payment.processor, amount: capturedTotal },
  ]
  const cards = giftCards.map(({ giftCardId, amount }) => ({
    ...common,
    kind: 'GIFT_CARD' as const,
    key: `gift-card:${orderId}:${giftCardId}`,
    processor: 'gift_card',
    amount,
  }))
  return [...(captured ?? []), ...cards]
}

/**
 * Gives back what an order held that came to nothing: once, whoever else is at it.
 * @param order as it stands, in a write that has it
 * @returns the order after it
 */
export async function release(tx: Writer, deps: OrderDeps, order: Order): Promise<Order> {
  const { orderStore: store } = deps
  const { id } = order
  if (order.holds === 'RELEASED' || order.confirmedAt !== null) return order
  const lines = stockTrackedLines(await store.lines(id, tx))
  // A sale that did not come about in the versions that made it in several writes.
  if (lines.length > 0) await tellStockOf(tx, deps, order)
  if (order.holds === 'COMMITTED') {
    await restock(tx, deps, lines)
    await removeCommission(tx, id)
  } else await releaseStock(tx, deps, lines)
  await releaseGiftCards(tx, deps, { orderId: id, draws: await store.giftCards(id, tx) })
  await giveBackDiscounts(tx, deps, order)
  const released = { holds: 'RELEASED', affiliateId: null, attempts: 0, updatedAt: deps.clock.now() } as const
  return (await store.change(tx, id, ['EXPIRED', 'COMPENSATING', 'CANCELLED'], released)) ?? order
}
