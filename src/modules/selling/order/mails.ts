import type { Writer } from '../../../../db/engine.ts'
import { type Money, moneyOf } from '../../../lib/money.ts'
import { pick } from '../../../lib/objects.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import type { MailData, MailLine, MailOrder, OrderRef } from '../../messaging/mail/domain.ts'
import { type MailDeps, queueMail } from '../../messaging/mail/index.ts'
import { manualProcessor } from '../../payments/payment/domain.ts'
import type { ManualMethod } from '../../payments/payment-method/domain.ts'
import type { SoldCard } from '../gift-card/index.ts'
import type { Fulfilment, Order, OrderLine, Refund } from './domain.ts'

// Queues mails to the shopper inside the write that they report. No order waits for a mail server, and each mail is
// sent once.

/** Lines that a mail shows at most. The order's page shows the rest. */
const linesShownMax = 50
/** A shopper at the checkout sees a failure there and may pay otherwise. The mail is sent only if the failure lasts. */
const failureMailDelayMs = 10 * 60_000

type Deps = Parameters<typeof queueMail>[1]

const refOf = ({ id: orderId, number }: Pick<Order, 'id' | 'number'>): OrderRef => ({ orderId, number })

const lineOf = (currency: string, { title, variantTitle, quantity, total }: OrderLine): MailLine => ({
  ...{ title, variantTitle: visibleVariantTitle(variantTitle), quantity },
  total: { amount: total, currency },
})

function mailOrderOf(order: Order, lines: readonly OrderLine[]): MailOrder {
  return {
    ...refOf(order),
    lines: lines.slice(0, linesShownMax).map((line) => lineOf(order.currency, line)),
    more: Math.max(0, lines.length - linesShownMax),
    ...moneyOf(order, 'subtotal', 'discountTotal', 'shippingTotal', 'taxTotal', 'taxIncluded', 'shippingTax', 'giftCardTotal', 'total'),
    shippingTaxInclusive: order.shippingTaxInclusive,
    shippingMethod: order.shippingMethod?.title ?? null,
  }
}

const toBuyer = ({ shopId, email }: Order) => ({ shopId, to: email })
/** Returns the cause of a mail about an unpaid order: anyone may name another person's address in one. */
const causeOf = ({ placedFrom }: Pick<Order, 'placedFrom'>): string | undefined => placedFrom ?? undefined

/**
 * Queues the confirmation.
 * @param lines of the order
 */
export const mailConfirmed = (tx: Writer, deps: Deps, order: Order, lines: readonly OrderLine[]): Promise<void> =>
  queueMail(tx, deps, {
    ...toBuyer(order),
    key: `order-confirmed:${order.id}`,
    template: 'order-confirmed',
    data: { order: mailOrderOf(order, lines) },
    cause: order.total === 0 ? causeOf(order) : undefined,
  })

/** Queues the mail that says how to pay outside souk, in the write that places the order or starts the payment. */
export const mailInstructions = (
  tx: Writer,
  deps: Deps,
  { id: orderId, amountDue: amount, currency, ...order }: Omit<Order, 'number'>,
  { title, instructions }: Pick<ManualMethod, 'title' | 'instructions'>,
): Promise<void> =>
  queueMail(tx, deps, {
    ...{ shopId: order.shopId, to: order.email },
    key: `payment-instructions:${orderId}`,
    template: 'payment-instructions',
    data: { order: { orderId }, amount: { amount, currency }, method: title, instructions },
    cause: causeOf(order),
  })
/**
 * Queues the mail about a confirmed order to the shop's own addresses.
 * @param to its `orderMails`
 */
export const mailNewOrder = (tx: Writer, deps: Deps, order: Order, lines: readonly OrderLine[], to: readonly string[]): Promise<unknown> =>
  Promise.all(
    to.map((address, at) =>
      queueMail(tx, deps, {
        shopId: order.shopId,
        to: address,
        key: `new_order:${order.id}:${at}`,
        template: 'new_order',
        data: { order: mailOrderOf(order, lines) },
      }),
    ),
  )

/** Queues a mail with the code of each sold card, to its recipient or the buyer. The code is nowhere else. */
export const mailGiftCards = (
  tx: Writer,
  deps: Deps,
  { id, shopId, email, currency, giftCardRecipient: recipient, billingAddress, shippingAddress }: Order,
  cards: readonly SoldCard[],
): Promise<unknown> =>
  Promise.all(
    cards.map(({ code, amount }, at) =>
      queueMail(tx, deps, {
        shopId,
        to: recipient?.email ?? email,
        key: `gift_card:${id}:${at + 1}`,
        template: 'gift_card',
        data: {
          code,
          amount: { amount, currency },
          recipient: recipient?.name ?? null,
          sender: recipient ? ((billingAddress ?? shippingAddress)?.name ?? null) : null,
          message: recipient?.message ?? null,
        },
      }),
    ),
  )

/** Queues the mail about a failed payment that no request awaited, once for an order and with a delay. */
export const mailPaymentFailed = (tx: Writer, deps: Deps, order: Order): Promise<void> =>
  queueMail(tx, deps, {
    ...toBuyer(order),
    key: `payment-failed:${order.id}`,
    template: 'payment-failed',
    data: { order: refOf(order), amount: { amount: order.amountDue, currency: order.currency } },
    afterMs: failureMailDelayMs,
    cause: causeOf(order),
  })

/** Returns whether an order still waits after a failed payment. The mail is dropped otherwise. */
const isStillFailed = ({ status, paymentStatus }: Pick<Order, 'status' | 'paymentStatus'>): boolean =>
  status === 'PENDING_PAYMENT' && paymentStatus === 'FAILED'

type Shipment = {
  /** The mail's key, so that it is sent once. */
  readonly id: string
  readonly trackingNumber: string | null
  readonly carrier: string | null
  /** The lines of a partial shipment; undefined for the whole order. */
  readonly lines?: readonly MailLine[]
}

/**
 * Returns what a mail shows of a fulfilment.
 * @param ordered the lines of the order
 */
export function shipmentOf({ id, lines: sent, trackingNumber, carrier }: Fulfilment, ordered: readonly OrderLine[]): Shipment {
  const unitsOfLine = new Map(sent.map(({ lineId, quantity }) => [lineId, quantity]))
  const parcel = { id, trackingNumber, carrier }
  if (ordered.every((line) => unitsOfLine.get(line.id) === line.quantity)) return parcel
  const lines = ordered.flatMap(({ id: lineId, title, variantTitle }) => {
    const quantity = unitsOfLine.get(lineId)
    return quantity === undefined ? [] : [{ title, variantTitle, quantity }]
  })
  return { ...parcel, lines }
}

/** Queues the mail about a fulfilment. */
export const mailShipped = (tx: Writer, deps: Deps, order: Order, { id, ...shipment }: Shipment): Promise<void> =>
  queueMail(tx, deps, {
    ...toBuyer(order),
    key: `order-shipped:${id}`,
    template: 'order-shipped',
    data: { order: refOf(order), ...shipment },
  })

/** Queues the mail about a refund. */
export const mailRefunded = (
  tx: Writer,
  deps: Deps,
  order: Order,
  { id, amount, giftCardAmount, currency, settledReference }: Refund,
): Promise<void> =>
  queueMail(tx, deps, {
    ...toBuyer(order),
    key: `refund-made:${id}${settledReference === null ? '' : ':settled'}`,
    template: 'refund-made',
    data: { order: refOf(order), ...moneyOf({ amount: amount + giftCardAmount, giftCardAmount, currency }, 'amount', 'giftCardAmount') },
  })

/** Queues the mail about a refund that the shopper must claim. */
export const mailClaim = (tx: Writer, deps: Deps, order: Order, { id, claimUrl, ...refund }: Refund): Promise<void> | undefined => {
  if (claimUrl === null) return undefined
  const amount: Money = pick(refund, 'amount', 'currency')
  return queueMail(tx, deps, {
    ...toBuyer(order),
    key: `refund-claim:${id}`,
    template: 'refund-claim',
    data: { order: refOf(order), amount, claimUrl },
  })
}

/** Registers the checks that run when a mail is sent: an order may have been paid or ended since. */
export const orderPreparers = (
  { mailPreparers }: Pick<MailDeps, 'mailPreparers'>,
  find: (orderId: string) => Promise<Order | undefined>,
): void => {
  mailPreparers.set('payment-failed', async (content) => {
    const { order } = content.data as { readonly order: OrderRef }
    const found = await find(order.orderId)
    return found && isStillFailed(found) ? content : undefined
  })
  mailPreparers.set('payment-instructions', async (content) => {
    const data = content.data as MailData['payment-instructions']
    const found = await find(data.order.orderId)
    const isAwaited = found?.status === 'PENDING_PAYMENT' && found.processor === manualProcessor
    return isAwaited ? { ...content, data: { ...data, order: refOf(found) } } : undefined
  })
}
