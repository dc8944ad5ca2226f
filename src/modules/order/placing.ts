import { AppError } from '../../core/errors.ts'
import { type CartContents, convertCart, type Priced } from '../cart/service.ts'
import { prepareStock } from '../catalog/service.ts'
import { countOrder } from '../customer/service.ts'
import { prepareHolds } from '../gift-card/service.ts'
import { eventOf, type OrderDeps } from './deps.ts'
import {
  type Order,
  type OrderLine,
  type Payment,
  paymentsPerOrderMax,
  paymentTimeMs,
  paymentTokenSeal,
  pendingPaymentMs,
  resumeAfterMs,
  type SagaStep,
  stepNames,
} from './domain.ts'

/** How a shopper means to pay. */
export type PaymentChoice = {
  method: Payment['method']
  processor: string
  token: string | undefined
  returnUrl: string | undefined
  /** The idempotency key of the request, hashed. */
  attemptKey: string
}

/** A cart that was found fit to be bought, as it was read just now. */
export type Purchase = { contents: CartContents; priced: Priced; email: string }

/** A payment as it begins. */
export function newPayment(
  deps: OrderDeps,
  order: Pick<Order, 'id' | 'shopId' | 'amountDue' | 'currency'>,
  choice: PaymentChoice,
): Payment {
  const id = deps.newId('payment')
  const now = deps.clock.now()
  return {
    id,
    orderId: order.id,
    shopId: order.shopId,
    attemptKey: choice.attemptKey,
    method: choice.method,
    processor: choice.processor,
    processorReference: null,
    sealedToken: choice.token === undefined ? null : deps.keyring.seal(choice.token, paymentTokenSeal(id)),
    returnUrl: choice.returnUrl ?? null,
    clientParameters: {},
    amount: order.amountDue,
    currency: order.currency,
    authorized: 0,
    captured: 0,
    refunded: 0,
    status: 'PENDING',
    failureCode: null,
    createdAt: now,
    updatedAt: now,
  }
}

/**
 * Makes an order of a cart, in one write: its stock is reserved, its gift cards are held and its number is drawn with it, so that
 * of two who want the last one only one has an order, and no number is lost.
 * @returns the order's id
 * @throws AppError CONFLICT when the cart is not open any more or was changed, the stock is gone or a gift card is used up
 */
export async function placeOrder(deps: OrderDeps, { contents, priced, email }: Purchase, choice: PaymentChoice): Promise<string> {
  const { orderStore: store } = deps
  const { cart, items } = contents
  const now = deps.clock.now()
  const draft = orderOf(deps.newId('order'), { contents, priced, email }, now)
  const { id } = draft
  const wanted = items.map(({ line: { variantId, quantity } }) => ({ variantId, quantity }))
  const stock = prepareStock(deps)
  const hold = prepareHolds(deps, { orderId: id, draws: priced.draws })
  const cards = priced.draws.map(({ giftCardId, last4, amount }) => ({
    orderId: id,
    giftCardId,
    last4,
    amount,
    refunded: 0,
    settledAt: null,
  }))
  const payment = draft.amountDue > 0 ? newPayment(deps, draft, choice) : undefined
  const event = eventOf(deps, id, 'PLACED', { total: draft.total, currency: draft.currency })
  await deps.db.write(async (tx) => {
    if (!(await convertCart(deps, tx, { cartId: cart.id, now, updatedAt: cart.updatedAt })))
      throw new AppError('CONFLICT', 'The cart is not open any more, or was changed meanwhile')
    const reserved = await stock.reserve(tx, wanted)
    await hold(tx)
    if (cart.customerId !== null) await countOrder(tx, { customerId: cart.customerId, currency: cart.currency })
    const number = await store.nextNumber(tx, cart.shopId)
    await store.insert(tx, { ...draft, number }, linesOf(id, contents, priced, reserved), cards, stepsOf(id, now))
    if (payment) await store.insertPayment(tx, payment)
    await store.appendEvent(tx, event)
  })
  return id
}

/**
 * Begins another payment for an order whose last one failed.
 * @throws AppError CONFLICT when the order is not waiting for one
 */
export async function payAgain(deps: OrderDeps, order: Order, choice: PaymentChoice): Promise<void> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  const payment = newPayment(deps, order, choice)
  const event = eventOf(deps, order.id, 'PAYMENT_STARTED', { payment: payment.id, processor: payment.processor })
  await deps.db.write(async (tx) => {
    const expiresAt = Math.max(order.expiresAt, now + paymentTimeMs)
    const change = { paymentStatus: 'PENDING', expiresAt, resumeAt: now + resumeAfterMs, updatedAt: now } as const
    if ((await store.countPayments(tx, order.id)) >= paymentsPerOrderMax)
      throw new AppError('CONFLICT', `The order was tried to be paid ${paymentsPerOrderMax} times: begin another cart`)
    if ((await store.hasLivePayment(tx, order.id)) || !(await store.change(tx, order.id, ['PENDING_PAYMENT'], change)))
      throw new AppError('CONFLICT', 'The order is not waiting for a payment')
    // What the last one used up of the processor's time is not this one's.
    await store.forgetAttempts(tx, order.id, ['AUTHORIZE', 'CAPTURE'])
    await store.insertPayment(tx, payment)
    await store.appendEvent(tx, event)
  })
}

function orderOf(id: string, { contents: { cart }, priced: { totals, shipping }, email }: Purchase, now: number): Omit<Order, 'number'> {
  return {
    id,
    shopId: cart.shopId,
    cartId: cart.id,
    customerId: cart.customerId,
    email,
    currency: cart.currency,
    subtotal: totals.subtotal,
    discountTotal: totals.discount,
    shippingTotal: totals.shipping,
    taxTotal: totals.tax,
    taxIncluded: totals.taxIncluded,
    giftCardTotal: totals.giftCards,
    total: totals.total,
    amountDue: totals.amountDue,
    capturedTotal: 0,
    refundedTotal: 0,
    giftCardRefundedTotal: 0,
    fxToUsd: null,
    status: 'PENDING_PAYMENT',
    paymentStatus: 'PENDING',
    fulfilmentStatus: 'UNFULFILLED',
    shippingAddress: cart.shippingAddress,
    billingAddress: cart.billingAddress,
    shippingMethod: shipping && { code: shipping.code, title: shipping.title },
    affiliateCode: cart.affiliateCode,
    affiliateAt: cart.affiliateAt,
    affiliateId: null,
    trackingNumber: null,
    carrier: null,
    expiresAt: now + pendingPaymentMs,
    resumeAt: now + resumeAfterMs,
    createdAt: now,
    updatedAt: now,
    confirmedAt: null,
    fulfilledAt: null,
  }
}

const linesOf = (orderId: string, { items }: CartContents, { lines }: Priced, reserved: ReadonlySet<string>): OrderLine[] =>
  lines.map((line, position) => {
    const sellable = items[position]?.sellable
    if (!sellable) throw new Error('an order line of nothing')
    return {
      orderId,
      position,
      id: line.id,
      productId: sellable.product.id,
      variantId: line.variantId,
      title: sellable.product.title,
      variantTitle: sellable.variant.title,
      sku: sellable.variant.sku,
      quantity: line.quantity,
      unitPrice: line.unitPrice,
      total: line.total,
      taxRateBps: line.taxRateBps,
      taxInclusive: line.taxInclusive,
      taxAmount: line.taxAmount,
      tracked: reserved.has(line.variantId),
    }
  })

/** The steps of a new order: the first two are done with it. */
const stepsOf = (orderId: string, at: number): SagaStep[] =>
  stepNames.map((step, position) => ({
    orderId,
    position,
    step,
    state: step === 'RESERVE_STOCK' || step === 'HOLD_GIFT_CARDS' ? 'DONE' : 'PENDING',
    attempts: 0,
    at,
  }))
