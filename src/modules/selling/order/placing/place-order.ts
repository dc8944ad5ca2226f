import { isNullViolation, NothingChanged, type Writer } from '../../../../../db/engine.ts'
import { groupedLocking, locking } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { pick } from '../../../../lib/objects.ts'
import { hundredthsOf, storedTaxRate } from '../../../../lib/tax-rate.ts'
import { isGiftCard } from '../../../catalog/product-kind/domain.ts'
import { reserveKnownStock, reserveStock } from '../../../catalog/products/index.ts'
import { countOrder } from '../../../customers/customer/index.ts'
import { isOpenPayment, type PaymentChoice } from '../../../payments/payment/domain.ts'
import { type Choices, createPayment, paymentsWithin } from '../../../payments/payment/index.ts'
import { type CartSnapshot, convertCart, isCardItem, isConvertible, type Priced } from '../../cart/index.ts'
import { orderDiscount } from '../../discount/domain.ts'
import { discountCustomerOf, takeDiscounts } from '../../discount/index.ts'
import { holdGiftCards } from '../../gift-card/index.ts'
import {
  type Order,
  type OrderEvent,
  type OrderGiftCard,
  type OrderLine,
  ordersPerCartMax,
  paymentsPerOrderMax,
  paymentTimeMs,
  paymentWaitMs,
  resumeAfterMs,
} from '../domain.ts'
import { appendEvent } from '../events.ts'
import { searchWordsOf } from '../listing.ts'
import { mailInstructions } from '../mails.ts'
import type { OrderDeps } from '../providers.ts'
import type { SagaContext, SagaRun } from '../saga/saga-context.ts'
import { orderIndexStore } from '../search/search-index-store.ts'
import { openOrderLimitsStore } from './open-order-limits-store.ts'

/** By then some unpaid orders are paid or have ended. */
const unpaidRetrySeconds = 60

/** A cart that passed all checks, as it was read. */
type Purchase = {
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
  const customer = priced.discounts.length > 0 ? await discountCustomerOf(deps, { shopId, customerId, email }) : undefined
  const purchase = { snapshot, mode, priced, email, placedFrom, customer }
  /** @param isKnown expects the stock as it was read, and waits for nothing */
  const writeOrder = (isKnown: boolean) =>
    deps.db.write(
      async (tx) => {
        const draft = orderOf(deps.newId('order'), purchase, choice, deps.clock.now())
        const { id, total, currency } = draft
        const reserved = await takeResources(tx, deps, { ...purchase, isKnown }, draft)
        const [lines, giftCards] = [linesOf(id, snapshot, priced, reserved), cardsOf(id, priced)]
        const inserted = await deps.orderStore.insert(tx, draft, lines, giftCards)
        await orderIndexStore.add(tx, draft, searchWordsOf(draft, lines, []))
        await openOrderLimitsStore.assertWithin(tx, draft, limitsOf(deps))
        const payments = draft.amountDue > 0 ? [await createPayment(tx, deps, { order: draft, choice, holder })] : []
        const events: OrderEvent[] = []
        await appendEvent(tx, deps, { orderId: id, type: 'PLACED', detail: { total, currency } }, events)
        if (choice.manual && draft.amountDue > 0) await mailInstructions(tx, deps, draft, choice.manual)
        return { draft, payments, inserted, lines, giftCards, events }
      },
      isKnown ? groupedLocking('place', shopId) : locking,
    )
  // Gift cards and discounts must be read. Without reads, orders share commits on PostgreSQL: one shop with 64 callers
  // sells 1.4 times as many a second.
  const isKnown = priced.draws.length === 0 && customer === undefined
  const placing = writeOrder(isKnown).catch((error: unknown) => {
    if (isKnown && error instanceof NothingChanged) return writeOrder(false)
    throw error
  })
  const { draft, inserted, payments, ...placed } = await placing.catch((error: unknown) => throwRefusal(deps, purchase, error))
  const order = { ...draft, number: await inserted.number }
  return { order, payments, unsent: payments[0] && { id: payments[0].id, fallbacks, isFallback: false }, placed }
}

/**
 * Takes what an order needs besides its own rows, in the lock order. The shop's next number comes last, since all its
 * orders wait for it.
 * @returns the ids of the variants whose stock is counted
 * @throws AppError that names the obstacle; NothingChanged if the cart was changed, or known stock
 */
async function takeResources(
  tx: Writer,
  deps: OrderDeps,
  { snapshot: { cart, items }, priced, customer, isKnown }: Purchase & { customer: string | undefined; isKnown: boolean },
  draft: Omit<Order, 'number'>,
): Promise<Set<string>> {
  const { id, currency, mode } = draft
  const isTracked = ({ sellable }: (typeof items)[number]) => sellable?.variant.trackInventory ?? true
  const units = items.map((item) => ({ ...pick(item.line, 'variantId', 'quantity'), isTracked: isTracked(item) }))
  // A cart that is not open is reported before missing stock.
  await convertCart(tx, deps, cart)
  const reserved = await (isKnown ? reserveKnownStock : reserveStock)(tx, deps, units)
  await holdGiftCards(tx, deps, { orderId: id, draws: priced.draws })
  if (customer !== undefined) await takeDiscounts(tx, deps, { orderId: id, mode, discounts: priced.discounts, customer })
  if (cart.customerId !== null) await countOrder(tx, { customerId: cart.customerId, currency, mode })
  return reserved
}

const limitsOf = ({ config }: OrderDeps) => ({
  shopMax: config.unpaidOrdersPerShop,
  addressMax: config.unpaidOrdersPerAddress,
  cartMax: ordersPerCartMax,
})

/**
 * Says why an order was not placed. Unpaid orders hold stock for an hour, and anyone with a publishable key could hold
 * all of it. The limit by address is exact within a shop; concurrent orders in several shops may exceed it.
 * @throws AppError CONFLICT for a cart that is not open, was changed or was checked out too often, or a shop that has
 *   gone live; RATE_LIMITED for an address or a shop with too many unpaid orders; another error as it is
 */
async function throwRefusal(deps: OrderDeps, { snapshot: { cart }, placedFrom }: Purchase, error: unknown): Promise<never> {
  // Only the mode can be null: the shop has another mode by now.
  if (isNullViolation(error)) throw new AppError('CONFLICT', 'The shop has just gone live. Check out again', { code: 'cart_changed' })
  if (!(error instanceof NothingChanged)) throw error
  if (!(await isConvertible(deps, cart)))
    throw new AppError('CONFLICT', 'The cart was changed or checked out by another request', { code: 'cart_changed' })
  const key = { shopId: cart.shopId, cartId: cart.id, placedFrom }
  const { ofCart, fromAddress } = await openOrderLimitsStore.reached(deps.db.read, key, limitsOf(deps))
  if (ofCart)
    throw new AppError('CONFLICT', `The cart was checked out ${ordersPerCartMax} times, which is the maximum. Create a new cart`, {
      code: 'limit_reached',
    })
  const retry = { retryAfterSeconds: unpaidRetrySeconds }
  if (fromAddress)
    throw new AppError(
      'RATE_LIMITED',
      `${deps.config.unpaidOrdersPerAddress} orders from this address are unpaid, which is the maximum. Pay or cancel one first`,
      retry,
    )
  throw new AppError('RATE_LIMITED', 'The shop has too many unpaid orders. Try again later', retry)
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
      throw new AppError('CONFLICT', `The order had ${paymentsPerOrderMax} payments, which is the maximum. Create a new cart`, {
        code: 'limit_reached',
      })
    const expiresAt = Math.max(before.expiresAt, now + (choice.manual ? paymentWaitMs(choice) : paymentTimeMs))
    const change = {
      paymentStatus: 'PENDING',
      processor: choice.processor,
      expiresAt,
      // Attempts of the previous payment do not count.
      attempts: 0,
      resumeAt: choice.manual ? null : now + resumeAfterMs,
      updatedAt: now,
    } as const
    const anyLive = payments.some((payment) => isOpenPayment(payment) || payment.status === 'CAPTURED')
    const order = anyLive ? undefined : await store.change(tx, orderId, ['PENDING_PAYMENT'], change)
    if (!order) throw new AppError('CONFLICT', 'The order is not awaiting payment', { code: 'cart_closed' })
    const payment = await createPayment(tx, deps, { order, choice, holder })
    const { id, processor } = payment
    await appendEvent(tx, deps, { orderId, type: 'PAYMENT_STARTED', detail: { payment: id, processor } })
    if (choice.manual) await mailInstructions(tx, deps, order, choice.manual)
    return { order, payments: [...payments, payment], unsent: { id, fallbacks, isFallback: false } }
  }, locking)
}

function orderOf(
  id: string,
  { snapshot: { cart, items }, mode, priced: { totals, shipping, shippingRate, discounts }, email, placedFrom }: Purchase,
  choice: PaymentChoice,
  now: number,
): Omit<Order, 'number'> {
  return {
    id,
    ...pick(cart, 'shopId', 'customerId', 'currency', 'shippingAddress', 'billingAddress', 'affiliateCode', 'affiliateAt'),
    giftCardRecipient: items.some(isCardItem) ? cart.giftCardRecipient : null,
    cartId: cart.id,
    mode,
    email,
    subtotal: totals.subtotal,
    discountTotal: totals.discount,
    discounts: discounts.map(orderDiscount),
    shippingTotal: totals.shipping,
    taxTotal: totals.tax,
    taxIncluded: totals.taxIncluded,
    shippingTax: totals.shippingTax,
    shippingTaxHundredths: hundredthsOf(shippingRate?.rateBps ?? 0),
    shippingTaxInclusive: shippingRate?.inclusive ?? false,
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
    expiresAt: now + paymentWaitMs(choice),
    // The job has nothing to do until a manual payment is marked as paid or the order expires.
    resumeAt: choice.manual ? null : now + resumeAfterMs,
    attempts: 0,
    holds: 'HELD',
    processor: totals.amountDue > 0 ? choice.processor : null,
    placedFrom,
    attemptKey: choice.attemptKey,
    createdAt: now,
    updatedAt: now,
    confirmedAt: null,
    fulfilledAt: null,
    tags: [],
    version: 1,
    fromAbandonedCart: cart.restoredAt !== null,
    agent: cart.agent,
  }
}

const linesOf = (orderId: string, { items }: CartSnapshot, { lines }: Priced, reserved: ReadonlySet<string>): OrderLine[] =>
  lines.map((line, position) => {
    const sellable = items[position]?.sellable
    if (!sellable) throw new Error('an order line without a variant')
    return {
      orderId,
      position,
      ...pick(line, 'id', 'variantId', 'quantity', 'unitPrice', 'total', 'discount', 'taxInclusive', 'taxAmount'),
      ...storedTaxRate(line.taxRateBps),
      productId: sellable.product.id,
      title: sellable.product.title,
      variantTitle: sellable.variant.title,
      sku: sellable.variant.sku,
      tracked: reserved.has(line.variantId),
      giftCard: isGiftCard(sellable.product),
    }
  })

const cardsOf = (orderId: string, { draws }: Priced): OrderGiftCard[] =>
  draws.map(({ giftCardId, last4, amount }) => ({ orderId, giftCardId, last4, amount, refunded: 0, settledAt: null }))
