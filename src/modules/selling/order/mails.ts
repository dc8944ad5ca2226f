import type { Writer } from '../../../../db/engine.ts'
import { type Money, moneyOf } from '../../../lib/money.ts'
import { pick } from '../../../lib/objects.ts'
import { variantNamed } from '../../catalog/products/domain.ts'
import type { MailLine, MailOrder, OrderRef } from '../../messaging/mail/domain.ts'
import { type MailDeps, queueMail } from '../../messaging/mail/index.ts'
import type { Fulfilment, Order, OrderLine, Refund } from './domain.ts'

// What a shopper is told by mail, inside the write of what it tells of: no order waits for a mail server, none is told of twice.

/** What a mail shows of an order; the rest is on its page. */
const linesShownMax = 50
/** Who is at the checkout sees it there, and pays otherwise: only what is still so by then is told. */
const failureToldAfterMs = 10 * 60_000

type Deps = Parameters<typeof queueMail>[1]

const refOf = ({ id: orderId, number }: Pick<Order, 'id' | 'number'>): OrderRef => ({ orderId, number })

const lineOf = (currency: string, { title, variantTitle, quantity, total }: OrderLine): MailLine => ({
  ...{ title, variantTitle: variantNamed(variantTitle), quantity },
  total: { amount: total, currency },
})

function mailOrderOf(order: Order, lines: readonly OrderLine[]): MailOrder {
  return {
    ...refOf(order),
    lines: lines.slice(0, linesShownMax).map((line) => lineOf(order.currency, line)),
    more: Math.max(0, lines.length - linesShownMax),
    ...moneyOf(order, 'subtotal', 'discountTotal', 'shippingTotal', 'taxTotal', 'taxIncluded', 'giftCardTotal', 'total'),
    shippingMethod: order.shippingMethod?.title ?? null,
  }
}

const toBuyer = ({ shopId, email }: Order) => ({ shopId, to: email })

/** The order is a sale. @param lines of the order */
export const mailConfirmed = (tx: Writer, deps: Deps, order: Order, lines: readonly OrderLine[]): Promise<void> =>
  queueMail(tx, deps, {
    ...toBuyer(order),
    key: `order-confirmed:${order.id}`,
    template: 'order-confirmed',
    data: { order: mailOrderOf(order, lines) },
  })

/** Its payment failed when nobody was waiting for it. Once an order, and not at once. */
export const mailPaymentFailed = (tx: Writer, deps: Deps, order: Order): Promise<void> =>
  queueMail(tx, deps, {
    ...toBuyer(order),
    key: `payment-failed:${order.id}`,
    template: 'payment-failed',
    data: { order: refOf(order), amount: { amount: order.amountDue, currency: order.currency } },
    afterMs: failureToldAfterMs,
  })

/** Whether an order still waits for a payment that failed: whoever has paid otherwise, or did not mean to buy, is told nothing. */
export const isStillFailed = ({ status, paymentStatus }: Pick<Order, 'status' | 'paymentStatus'>): boolean =>
  status === 'PENDING_PAYMENT' && paymentStatus === 'FAILED'

type Shipment = {
  /** Names it, so that it is told of once. */
  readonly id: string
  readonly trackingNumber: string | null
  readonly carrier: string | null
  /** Of a part of the order, which. */
  readonly lines?: readonly MailLine[]
}

/** What a mail tells of a parcel: of one that is not the whole order, which lines are in it. @param ordered the lines of the order */
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

/** Something of it, or all, was sent. */
export const mailShipped = (tx: Writer, deps: Deps, order: Order, { id, ...shipment }: Shipment): Promise<void> =>
  queueMail(tx, deps, {
    ...toBuyer(order),
    key: `order-shipped:${id}`,
    template: 'order-shipped',
    data: { order: refOf(order), ...shipment },
  })

/** Money went back, whatever for. */
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

/** Money waits for the shopper to fetch it (contract, section 5). */
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

/** What is sent of a mail that was queued some time ago, when it is sent. */
export const orderPreparers = (
  { mailPreparers }: Pick<MailDeps, 'mailPreparers'>,
  find: (orderId: string) => Promise<Order | undefined>,
): void =>
  void mailPreparers.set('payment-failed', async (content) => {
    const { order } = content.data as { readonly order: OrderRef }
    const found = await find(order.orderId)
    return found && isStillFailed(found) ? content : undefined
  })
