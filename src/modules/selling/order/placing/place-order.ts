import { isNullViolation, type Writer } from '../../../../../db/engine.ts'
import { locking } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { pick } from '../../../../lib/objects.ts'
import { reserveStock } from '../../../catalog/products/index.ts'
import { countOrder } from '../../../customers/customer/index.ts'
import { isOpenPayment, type PaymentChoice } from '../../../payments/payment/domain.ts'
import { type Choices, createPayment, paymentsWithin } from '../../../payments/payment/index.ts'
import { type CartSnapshot, convertCart, type Priced } from '../../cart/index.ts'
import { orderDiscount } from '../../discount/domain.ts'
import { takeDiscounts, userOf } from '../../discount/index.ts'
import { holdGiftCards } from '../../gift-card/index.ts'
import {
  type Order,
  type OrderEvent,
  type OrderGiftCard,
  type OrderLine,
  ordersPerCartMax,
  paymentsPerOrderMax,
  paymentTimeMs,
  pendingPaymentMs,
  resumeAfterMs,
  searchWordsOf,
} from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import type { SagaContext, SagaRun } from '../saga/saga-context.ts'
import { findingStore } from '../search/search-store.ts'
import { type OrderLimitKey, openOrderLimitsStore } from './open-order-limits-store.ts'

/** By then some unpaid orders are paid or have ended. */
const unpaidRetrySeconds = 60

/** A cart that passed all checks, as it was read. */
export type Purchase = {
  snapshot: CartSnapshot
  /** The shop's mode when the processor was selected. If it changed since, no order is placed. */
  mode: Order['mode']
  priced: Priced
  email: string
  /** A keyed hash of the shopper's address; null for a shop's own server. */
  placedFrom: string | null
}

/**
 * Places an order for a cart in one write: reserves its stock, holds its gift cards and draws its number. Of two
 * shoppers who want the last unit only one gets an order, and no order number is skipped.
 * @param context the run that then calls the processor
 * @returns the order and its payment, for `runSaga`
 * @throws AppError CONFLICT when the cart was changed or closed, the stock is gone, a gift card is used up or the shop
 *   has gone live
 */
export async function placeOrder(
  deps: OrderDeps,
  { snapshot, mode, priced, email, placedFrom }: Purchase,
  { first: choice, fallbacks }: Choices,
  { holder }: SagaContext,
): Promise<SagaRun> {
  const { customerId, shopId } = snapshot.cart
  // Discounts need their counts and limits read in any case.
  const customer = priced.discounts.length > 0 ? await userOf(deps, { shopId, customerId, email }) : undefined
  const purchase = { snapshot, mode, priced, email, placedFrom, customer }
  const placing = deps.db.write(async (tx) => {
    const draft = orderOf(deps.newId('order'), purchase, choice, deps.clock.now())
    const { id, total, currency } = draft
    const reserved = await takeResources(tx, deps, purchase, draft)
    const [lines, giftCards] = [linesOf(id, snapshot, priced, reserved), cardsOf(id, priced)]
    const inserted = await deps.orderStore.insert(tx, draft, lines, giftCards)
    await findingStore.add(tx, draft, searchWordsOf(draft, lines, []))
    const payments = draft.amountDue > 0 ? [await createPayment(tx, deps, { order: draft, choice, holder })] : []
    const events: OrderEvent[] = []
    await appendEvent(tx, deps, { orderId: id, type: 'PLACED', detail: { total, currency } }, events)
    return { draft, payments, inserted, lines, giftCards, events }
  }, locking)
  const { draft, inserted, payments, ...placed } = await placing.catch(refuseGoneLive)
  const order = { ...draft, number: await inserted.number }
  return { order, payments, unsent: payments[0] && { id: payments[0].id, fallbacks, isFallback: false }, placed }
}

/**
 * Takes what an order needs besides its own rows, in the lock order. The shop's next number comes last, since all its
 * orders wait for it. Each row is checked.
 * @returns the ids of the variants whose stock is counted
 * @throws AppError that names the obstacle
 */
async function takeResources(
  tx: Writer,
  deps: OrderDeps,
  { snapshot: { cart, items }, priced, customer }: Purchase & { customer: string | undefined },
  draft: Omit<Order, 'number'>,
): Promise<Set<string>> {
  const { id, currency, mode } = draft
  const wanted = items.map(({ line: { variantId, quantity } }) => ({ variantId, quantity }))
  const converted = convertCart(tx, deps, cart)
  const reserving = reserveStock(tx, deps, wanted)
  const isClose = isNearLimit(tx, deps, draft)
  isClose.catch(() => undefined)
  // A cart that is not open is reported before missing stock.
  reserving.catch(() => undefined)
  if (!(await converted)) throw new AppError('CONFLICT', 'The cart is not open any more, or was changed meanwhile')
  const reserved = await reserving
  await holdGiftCards(tx, deps, { orderId: id, draws: priced.draws })
  if (customer !== undefined) await takeDiscounts(tx, deps, { orderId: id, mode, counted: priced.discounts, customer })
  if (cart.customerId !== null) await countOrder(tx, { customerId: cart.customerId, currency, mode })
  if (await isClose) await assertBelowLimits(tx, deps, draft)
  return reserved
}

const goneLive = () => new AppError('CONFLICT', 'The shop takes real money since just now: check out again')

/** Only the mode can be null: the shop has another mode by now. */
function refuseGoneLive(error: unknown): never {
  if (isNullViolation(error)) throw goneLive()
  throw error
}

/**
 * Starts another payment for an order whose last one failed.
 * @returns the order and its payments, for `runSaga`
 * @throws AppError CONFLICT when the order does not await a payment
 */
export async function startNewPayment(
  deps: OrderDeps,
  before: Order,
  { first: choice, fallbacks }: Choices,
  { holder }: SagaContext,
): Promise<SagaRun> {
  const { orderStore: store } = deps
  const { id: orderId } = before
  return deps.db.write(async (tx) => {
    const now = deps.clock.now()
    await store.lock(tx, orderId)
    const payments = await paymentsWithin(tx, deps, orderId)
    if (payments.length >= paymentsPerOrderMax)
      throw new AppError('CONFLICT', `The order was tried to be paid ${paymentsPerOrderMax} times: begin another cart`)
    const expiresAt = Math.max(before.expiresAt, now + paymentTimeMs)
    const change = {
      paymentStatus: 'PENDING',
      processor: choice.processor,
      expiresAt,
      // Attempts of the previous payment do not count.
      attempts: 0,
      resumeAt: now + resumeAfterMs,
      updatedAt: now,
    } as const
    const anyLive = payments.some((payment) => isOpenPayment(payment) || payment.status === 'CAPTURED')
    const order = anyLive ? undefined : await store.change(tx, orderId, ['PENDING_PAYMENT'], change)
    if (!order) throw new AppError('CONFLICT', 'The order is not waiting for a payment')
    const payment = await createPayment(tx, deps, { order, choice, holder })
    const { id, processor } = payment
    await appendEvent(tx, deps, { orderId, type: 'PAYMENT_STARTED', detail: { payment: id, processor } })
    return { order, payments: [...payments, payment], unsent: { id, fallbacks, isFallback: false } }
  }, locking)
}

/** Concurrent orders do not see each other. Within this distance of a limit they are counted one after the other. */
const limitMargin = 64

/** Whether at most `room` more orders may be placed. The cart's row is locked. */
const exceedsLimits = (tx: Writer, { config }: OrderDeps, order: OrderLimitKey, room: number) =>
  openOrderLimitsStore.areMoreThan(tx, order, {
    shopMax: Math.max(0, config.unpaidOrdersPerShop - room - 1),
    addressMax: Math.max(0, config.unpaidOrdersPerAddress - room - 1),
    cartMax: ordersPerCartMax - 1,
  })

/**
 * Whether `assertBelowLimits` must count exactly.
 * @throws AppError CONFLICT for a cart that was checked out too often
 */
async function isNearLimit(tx: Writer, deps: OrderDeps, order: OrderLimitKey): Promise<boolean> {
  const { unpaidOrdersPerShop: perShop, unpaidOrdersPerAddress: perAddress } = deps.config
  const { ofShop, fromAddress, ofCart } = await exceedsLimits(tx, deps, order, limitMargin)
  if (ofCart) throw new AppError('CONFLICT', `The cart was checked out ${ordersPerCartMax} times: begin another cart`)
  // Orders of anonymous shoppers must not lock out the shop's own server.
  return order.placedFrom !== null && (ofShop || fromAddress || Math.min(perShop, perAddress) <= limitMargin)
}

/**
 * Checks the limits on unpaid orders, which hold stock for an hour: anyone with a publishable key could hold all of
 * it. The limit by address is exact within a shop; concurrent orders in several shops may exceed it.
 * @throws AppError RATE_LIMITED for an address or a shop with too many
 */
async function assertBelowLimits(tx: Writer, deps: OrderDeps, order: OrderLimitKey & Pick<Order, 'shopId'>): Promise<void> {
  await deps.orderStore.holdNumbers(tx, order.shopId)
  const { ofShop, fromAddress } = await exceedsLimits(tx, deps, order, 0)
  const retry = { retryAfterSeconds: unpaidRetrySeconds }
  if (fromAddress)
    throw new AppError(
      'RATE_LIMITED',
      `${deps.config.unpaidOrdersPerAddress} orders from this address wait for their payment: pay or take back some of them`,
      retry,
    )
  if (ofShop) throw new AppError('RATE_LIMITED', 'Too many orders of the shop wait for their payment: try again later', retry)
}

function orderOf(
  id: string,
  { snapshot: { cart }, mode, priced: { totals, shipping, discounts }, email, placedFrom }: Purchase,
  choice: PaymentChoice,
  now: number,
): Omit<Order, 'number'> {
  return {
    id,
    ...pick(cart, 'shopId', 'customerId', 'currency', 'shippingAddress', 'billingAddress', 'affiliateCode', 'affiliateAt'),
    cartId: cart.id,
    mode,
    email,
    subtotal: totals.subtotal,
    discountTotal: totals.discount,
    discounts: discounts.map(orderDiscount),
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
    shippingMethod: shipping && { code: shipping.code, title: shipping.title },
    affiliateId: null,
    trackingNumber: null,
    carrier: null,
    expiresAt: now + pendingPaymentMs,
    resumeAt: now + resumeAfterMs,
    attempts: 0,
    holds: 'HELD',
    processor: totals.amountDue > 0 ? choice.processor : null,
    placedFrom,
    attemptKey: choice.attemptKey,
    createdAt: now,
    updatedAt: now,
    confirmedAt: null,
    fulfilledAt: null,
  }
}

const linesOf = (orderId: string, { items }: CartSnapshot, { lines }: Priced, reserved: ReadonlySet<string>): OrderLine[] =>
  lines.map((line, position) => {
    const sellable = items[position]?.sellable
    if (!sellable) throw new Error('an order line of nothing')
    return {
      orderId,
      position,
      ...pick(line, 'id', 'variantId', 'quantity', 'unitPrice', 'total', 'discount', 'taxRateBps', 'taxInclusive', 'taxAmount'),
      productId: sellable.product.id,
      title: sellable.product.title,
      variantTitle: sellable.variant.title,
      sku: sellable.variant.sku,
      tracked: reserved.has(line.variantId),
    }
  })

const cardsOf = (orderId: string, { draws }: Priced): OrderGiftCard[] =>
  draws.map(({ giftCardId, last4, amount }) => ({ orderId, giftCardId, last4, amount, refunded: 0, settledAt: null }))
