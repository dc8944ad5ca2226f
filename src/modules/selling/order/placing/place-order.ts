import { isNullViolation, NothingChanged, type Writer } from '../../../../../db/engine.ts'
import { inLine, locking } from '../../../../core/command-context.ts'
import { AppError } from '../../../../core/errors.ts'
import { pick } from '../../../../lib/objects.ts'
import { reserveKnownStock, reserveStock } from '../../../catalog/products/index.ts'
import { countOrder } from '../../../customers/customer/index.ts'
import { isOpenPayment, type PaymentChoice } from '../../../payments/payment/domain.ts'
import { createPayment, paymentsWithin } from '../../../payments/payment/index.ts'
import { type CartSnapshot, convertCart, convertCartSurely, type Priced } from '../../cart/index.ts'
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
  type Saga,
  searchWordsOf,
} from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import type { SagaContext } from '../saga/saga-context.ts'
import { findingStore } from '../search/search-store.ts'
import { type Holding, openOrderLimitsStore } from './open-order-limits-store.ts'

/** Some of them will be paid, or over, by then. */
const unpaidRetrySeconds = 60

/** A cart that was found fit to be bought, as it was read just now. */
export type Purchase = {
  snapshot: CartSnapshot
  /** Of the shop when it was chosen what is to be paid by: where it is another one by then, nothing is placed. */
  mode: Order['mode']
  priced: Priced
  email: string
  /** The shopper's address, as a keyed hash; null for a shop's own server. */
  placedFrom: string | null
}

/**
 * Makes an order of a cart, in one write: its stock is reserved, its gift cards are held and its number is drawn with it, so that
 * of two who want the last one only one has an order, and no number is lost.
 * @param context the run that goes on to tell the processor
 * @returns the order and its payment
 * @throws AppError CONFLICT when the cart is not open any more or was changed, the stock is gone, a gift card is used up or the shop has
 *   gone live
 */
export async function placeOrder(
  deps: OrderDeps,
  { snapshot, mode, priced, email, placedFrom }: Purchase,
  choice: PaymentChoice,
  context: SagaContext,
): Promise<Saga> {
  const { customerId, shopId } = snapshot.cart
  // Counts and limits of discounts are looked at in every case, too.
  const customer = priced.discounts.length > 0 ? await userOf(deps, { shopId, customerId, email }) : undefined
  const purchase = { snapshot, mode, priced, email, placedFrom, customer }
  const place = (isKnown: boolean) =>
    deps.db.write(
      async (tx) => {
        const draft = orderOf(deps.newId('order'), purchase, choice, deps.clock.now())
        const { id, total, currency } = draft
        const reserved = await (isKnown ? takeOptimistically : takeChecked)(tx, deps, purchase, draft)
        const [lines, giftCards] = [linesOf(id, snapshot, priced, reserved), cardsOf(id, priced)]
        const inserted = await deps.orderStore.insert(tx, draft, lines, giftCards)
        await findingStore.add(tx, draft, searchWordsOf(draft, lines, []))
        if (isKnown) await assertWithinLimits(tx, deps, draft)
        const payments = draft.amountDue > 0 ? [await createPayment(tx, deps, { order: draft, choice, holder: context.holder })] : []
        const events: OrderEvent[] = []
        await appendEvent(tx, deps, { orderId: id, type: 'PLACED', detail: { total, currency } }, events)
        return { draft, payments, inserted, lines, giftCards, events }
      },
      isKnown ? inLine('place', snapshot.cart.shopId) : locking,
    )
  // What a card still covers is asked before anything else is done.
  const placing =
    priced.draws.length > 0 || customer !== undefined
      ? place(false)
      : place(true).catch((error: unknown) => {
          if (!(error instanceof NothingChanged)) throw error
          // Something is not as it was: what it is decides what the shopper is told.
          return place(false)
        })
  const { draft, inserted, payments, ...parts } = await placing.catch(refuseGoneLive)
  for (const { id: unsent } of payments) context.unsent.add(unsent)
  const order = { ...draft, number: await inserted.number }
  context.made = { order, payments, ...parts }
  return { order, payments }
}

/**
 * Takes what an order needs besides its own rows, in the order in which everybody locks: the cart, variants and what they turn, gift cards, discounts,
 * the customer's numbers. The shop's next number, for which all its orders wait, comes behind all of these.
 * @returns the ids of the variants that are counted
 */
type Take = (
  tx: Writer,
  deps: OrderDeps,
  purchase: Purchase & { customer?: string | undefined },
  draft: Omit<Order, 'number'>,
) => Promise<Set<string>>

/** Looks at what it finds before it goes on, and says what is in the way. */
const takeChecked: Take = async (tx, deps, { snapshot: { cart, items }, priced, customer }, draft) => {
  const { id, currency, mode } = draft
  const wanted = items.map(({ line: { variantId, quantity } }) => ({ variantId, quantity }))
  const converted = convertCart(tx, deps, cart)
  const reserving = reserveStock(tx, deps, wanted)
  const isClose = isNearLimit(tx, deps, draft)
  isClose.catch(() => undefined)
  // Whatever else there is to say, the cart comes first.
  reserving.catch(() => undefined)
  if (!(await converted)) throw new AppError('CONFLICT', 'The cart is not open any more, or was changed meanwhile')
  const reserved = await reserving
  await holdGiftCards(tx, deps, { orderId: id, draws: priced.draws })
  if (customer !== undefined) await takeDiscounts(tx, deps, { orderId: id, mode, counted: priced.discounts, customer })
  if (cart.customerId !== null) await countOrder(tx, { customerId: cart.customerId, currency, mode })
  if (await isClose) await assertBelowLimits(tx, deps, draft)
  return reserved
}

/**
 * The same where all is as it was read just now: nothing is waited for, so that on Postgres the order is placed in one round trip, and its
 * shop's number is held for as long as the server itself takes. Else the write throws NothingChanged.
 */
const takeOptimistically: Take = async (tx, deps, { snapshot: { cart, items } }, { currency, mode }) => {
  const wanted = items.map(({ line: { variantId, quantity }, sellable }) => ({
    variantId,
    quantity,
    isCounted: sellable?.variant.trackInventory ?? true,
  }))
  await convertCartSurely(tx, deps, cart)
  const reserved = await reserveKnownStock(tx, deps, wanted)
  if (cart.customerId !== null) await countOrder(tx, { customerId: cart.customerId, currency, mode })
  return reserved
}

const goneLive = () => new AppError('CONFLICT', 'The shop takes real money since just now: check out again')

/** Only the mode of an order may turn out to be missing: where its shop is not of that mode any more. */
function refuseGoneLive(error: unknown): never {
  if (isNullViolation(error)) throw goneLive()
  throw error
}

/**
 * Begins another payment for an order whose last one failed.
 * @throws AppError CONFLICT when the order is not waiting for one
 */
export async function startNewPayment(deps: OrderDeps, order: Order, choice: PaymentChoice, context: SagaContext): Promise<void> {
  const { orderStore: store } = deps
  await deps.db.write(async (tx) => {
    const now = deps.clock.now()
    await store.lock(tx, order.id)
    const begun = await paymentsWithin(tx, deps, order.id)
    if (begun.length >= paymentsPerOrderMax)
      throw new AppError('CONFLICT', `The order was tried to be paid ${paymentsPerOrderMax} times: begin another cart`)
    const expiresAt = Math.max(order.expiresAt, now + paymentTimeMs)
    const change = {
      paymentStatus: 'PENDING',
      processor: choice.processor,
      expiresAt,
      // What the last one used up of the processor's time is not this one's.
      attempts: 0,
      resumeAt: now + resumeAfterMs,
      updatedAt: now,
    } as const
    const anyLive = begun.some((payment) => isOpenPayment(payment) || payment.status === 'CAPTURED')
    if (anyLive || !(await store.change(tx, order.id, ['PENDING_PAYMENT'], change)))
      throw new AppError('CONFLICT', 'The order is not waiting for a payment')
    const { id, processor } = await createPayment(tx, deps, { order, choice, holder: context.holder })
    context.unsent.add(id)
    await appendEvent(tx, deps, { orderId: order.id, type: 'PAYMENT_STARTED', detail: { payment: id, processor } })
  }, locking)
}

/** Orders that are placed at the same moment do not see each other. This close to a bound they are counted one after the other. */
const limitMargin = 64

/** Of how many there may be at most, so many less: of orders by the shop's shoppers, from an address, of a cart. */
const boundsOf = ({ config }: OrderDeps, room: number) => ({
  shopMax: Math.max(0, config.unpaidOrdersPerShop - room),
  addressMax: Math.max(0, config.unpaidOrdersPerAddress - room),
  cartMax: ordersPerCartMax,
})

/** Whether so few more may be placed, or none. The cart's row is locked. */
const exceedsLimits = (tx: Writer, deps: OrderDeps, order: Holding, room: number) => {
  const { shopMax, addressMax, cartMax } = boundsOf(deps, room + 1)
  return openOrderLimitsStore.areMoreThan(tx, order, { shopMax, addressMax, cartMax: cartMax - 1 })
}

/** That an order which has its number already, and so nobody else of its shop's is being placed, is none too many: else NothingChanged. */
const assertWithinLimits = (tx: Writer, deps: OrderDeps, order: Holding): Promise<void> =>
  openOrderLimitsStore.assertNoMoreThan(tx, order.placedFrom === null ? { ...order, shopId: null } : order, boundsOf(deps, 0))

/**
 * Whether `assertBelowLimits` has to look closer.
 * @throws AppError CONFLICT for a cart that was checked out too often
 */
async function isNearLimit(tx: Writer, deps: OrderDeps, order: Holding): Promise<boolean> {
  const { unpaidOrdersPerShop: perShop, unpaidOrdersPerAddress: perAddress } = deps.config
  const { ofShop, fromAddress, ofCart } = await exceedsLimits(tx, deps, order, limitMargin)
  if (ofCart) throw new AppError('CONFLICT', `The cart was checked out ${ordersPerCartMax} times: begin another cart`)
  // The shop's own server is not to be shut out by strangers.
  return order.placedFrom !== null && (ofShop || fromAddress || Math.min(perShop, perAddress) <= limitMargin)
}

/**
 * Unpaid orders hold stock for an hour: whoever has a publishable key could hold all of it. The bound of an address is exact within a shop;
 * orders that it places in several shops at the same moment may pass it by as many.
 * @throws AppError RATE_LIMITED for an address or a shop that has too many
 */
async function assertBelowLimits(tx: Writer, deps: OrderDeps, order: Holding & Pick<Order, 'shopId'>): Promise<void> {
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
