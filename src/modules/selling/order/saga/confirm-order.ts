import type { Writer } from '../../../../../db/engine.ts'
import { dayOf } from '../../../../lib/day.ts'
import { commitPromisedStock, commitStock, releaseStock, restock } from '../../../catalog/products/index.ts'
import { addSpending } from '../../../customers/customer/index.ts'
import { announceOrderStock } from '../../../messaging/live-events/index.ts'
import { readOrderMails } from '../../../messaging/mail/index.ts'
import { enqueueMessage } from '../../../messaging/webhook/index.ts'
import { rateFor } from '../../../payments/fx/index.ts'
import { type Movement, recordMovements } from '../../../payments/ledger/index.ts'
import { attributeOrder, removeCommission } from '../../affiliate/index.ts'
import { giveBackDiscounts } from '../../discount/index.ts'
import { issueSoldCards, releaseGiftCards, type SoldCard } from '../../gift-card/index.ts'
import { type Order, type OrderEvent, type OrderGiftCard, type OrderLine, paymentOf, type Saga } from '../domain.ts'
import { appendEvents, type NewOrderEvent } from '../events.ts'
import { notifyFulfilled } from '../fulfilment/fulfilments.ts'
import { mailConfirmed, mailGiftCards, mailNewOrder } from '../mails.ts'
import type { OrderDeps } from '../providers.ts'
import { stockTrackedLines } from '../refunds/refund-effects.ts'
import type { OrderContents, SagaContext, SagaRun } from './saga-context.ts'

// The two writes that need no processor: a paid order becomes a sale; an order without a sale releases its holds.

/** Reads what a sale needs together with the order's lock, in one round trip. */
export async function readOrderContents(tx: Writer, { orderStore }: OrderDeps, orderId: string): Promise<OrderContents> {
  const [lines, giftCards] = await Promise.all([orderStore.lines(orderId, tx), orderStore.giftCards(orderId, tx)])
  return { lines, giftCards }
}

/** Returns the payment fields of a paid order. */
export const paidOrderFields = (capturedTotal: number) => ({ paymentStatus: 'CAPTURED', capturedTotal }) as const

/** An order to confirm, as its write read it, and its payments. */
type SaleInput = Saga & {
  readonly parts: OrderContents
  /** The captured amount of an order that awaits its payment. It passes through PAID on the way. */
  readonly capturedTotal?: number | undefined
  /** Events that happened just before, written first. */
  readonly precedingEvents?: readonly NewOrderEvent[]
  /**
   * All events of an order that this run placed; new ones are added. Nothing is read then, and a difference throws
   * NothingChanged.
   */
  readonly knownEvents?: OrderEvent[] | undefined
}

/**
 * Makes an order a sale inside a write: commits its stock, settles its gift cards, attributes its affiliate, queues
 * its webhook and mails, and books it at today's exchange rate. Only the rate, the affiliate and the shop's addresses
 * for mails are awaited first.
 * @param response stores the response of a request, which awaits the sale
 */
export async function recordSale(
  tx: Writer,
  deps: OrderDeps,
  { order, payments, parts, capturedTotal, precedingEvents = [], knownEvents }: SaleInput,
  response?: SagaContext['response'],
): Promise<SagaRun> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  const { id, currency, customerId, total } = order
  const { lines, giftCards } = parts
  const cardLines = lines.filter((line) => line.giftCard)
  const [affiliateId, rate, orderMails, soldCards] = await Promise.all([
    attributeOrder(tx, deps, order),
    rateFor(tx, currency, dayOf(now)),
    readOrderMails(tx, deps, order.shopId),
    cardLines.length > 0 ? issueSoldCards(tx, deps, order, cardLines) : [],
  ])
  // Only gift cards, which are mailed: nothing is left to send.
  const isSent = cardLines.length > 0 && cardLines.length === lines.length
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
  // The statements of the write, in this order and without waiting for each other.
  const confirming =
    order.status === 'PENDING_PAYMENT'
      ? store.moveThrough(tx, order, ['PENDING_PAYMENT'], 'PAID', 'CONFIRMED', sold)
      : store.move(tx, order, ['PAID'], 'CONFIRMED', sold)
  const effects = Promise.all([
    appendEvents(tx, deps, id, [...precedingEvents, ...saleEvents(soldCards, isSent)], knownEvents),
    order.holds === 'HELD' ? (knownEvents ? commitPromisedStock : commitStock)(tx, deps, stockTrackedLines(lines)) : undefined,
    giftCards.length > 0 ? store.settleGiftCards(tx, id, now) : undefined,
    customerId === null ? undefined : addSpending(tx, { customerId, currency, mode: order.mode, amount: total }),
    notifyConfirmed(tx, deps, order, lines),
    mailConfirmed(tx, deps, order, lines),
    mailNewOrder(tx, deps, order, lines, orderMails),
    mailGiftCards(tx, deps, order, soldCards),
    bookSale(tx, deps, { order: { ...order, ...sold }, payments }, parts),
  ])
  const reads = response && Promise.all([knownEvents ?? store.eventsOf(tx, id), knownEvents ? [] : store.refundsOf(tx, id)])
  const [sale, history] = await Promise.all([confirming, reads, effects])
  if (!sale) throw new Error('an order that was to be confirmed is not PAID')
  const confirmed = isSent ? await fulfilAtOnce(tx, deps, sale) : sale
  if (!response || !history) return { order: confirmed, payments }
  const [events, refunds] = history
  const full = { order: confirmed, lines, giftCards, events, payments, refunds, disputes: [], fulfilments: [], notes: [] }
  await response.store(tx, full, knownEvents !== undefined)
  return { order: confirmed, payments, sold: full }
}

const saleEvents = (soldCards: readonly SoldCard[], isSent: boolean): NewOrderEvent[] => [
  { type: 'CONFIRMED' },
  ...soldCards.map(({ id, last4, amount }) => ({ type: 'GIFT_CARD_ISSUED', detail: { giftCard: id, last4, amount } })),
  ...(isSent ? [{ type: 'FULFILLED' }] : []),
]

/** Moves an order that has nothing to send to FULFILLED, in the write of its sale. */
async function fulfilAtOnce(tx: Writer, deps: OrderDeps, sale: Order): Promise<Order> {
  const fulfilled = { fulfilmentStatus: 'FULFILLED', fulfilledAt: sale.updatedAt, updatedAt: sale.updatedAt } as const
  const after = await deps.orderStore.move(tx, sale, ['CONFIRMED'], 'FULFILLED', fulfilled)
  if (!after) throw new Error('an order changed under its lock')
  await notifyFulfilled(tx, deps, after, undefined)
  return after
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

/**
 * Books a sale in the ledger and the dashboards. A shop cannot go live with an unfinished order, so a sale always
 * counts.
 */
function bookSale(
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

/** The ledger movements of a sale: the captured money, and one for each gift card. */
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
 * Releases what an order held that ended without a sale; a second call changes nothing.
 * @param order as this write locked it
 * @returns the order afterwards
 */
export async function releaseHolds(tx: Writer, deps: OrderDeps, order: Order): Promise<Order> {
  const { orderStore: store } = deps
  const { id } = order
  if (order.holds === 'RELEASED' || order.confirmedAt !== null) return order
  const lines = stockTrackedLines(await store.lines(id, tx))
  // Older versions committed stock before the sale was complete.
  if (lines.length > 0) await announceOrderStock(tx, deps, order)
  if (order.holds === 'COMMITTED') {
    await restock(tx, deps, lines)
    await removeCommission(tx, id)
  } else await releaseStock(tx, deps, lines)
  await releaseGiftCards(tx, deps, { orderId: id, draws: await store.giftCards(id, tx) })
  await giveBackDiscounts(tx, deps, order)
  const released = { holds: 'RELEASED', affiliateId: null, attempts: 0, updatedAt: deps.clock.now() } as const
  return (await store.change(tx, id, ['EXPIRED', 'COMPENSATING', 'CANCELLED'], released)) ?? order
}
