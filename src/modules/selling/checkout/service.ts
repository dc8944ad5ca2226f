import { AppError, invalidField } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { holdsCardNumber } from '../../../lib/card-numbers.ts'
import { type Money, moneyOf } from '../../../lib/money.ts'
import { pick } from '../../../lib/objects.ts'
import { hmac } from '../../../lib/seal.ts'
import { isOpenPayment, type Payment, type PaymentChoice } from '../../payments/payment/domain.ts'
import {
  type Choices,
  type OfferedProcessors,
  readOfferedProcessors,
  selectManualMethod,
  selectProcessor,
} from '../../payments/payment/index.ts'
import { isOpen, type Shop } from '../../shop/shop/domain.ts'
import { readShop } from '../../shop/shop/index.ts'
import {
  assertProvinces,
  type CartCaller,
  type CartView,
  cartOf,
  changedSince,
  isCardItem,
  isServer,
  type LoadedCart,
  loadCart,
  needsShipping,
  noticesIn,
  notOpen,
  priced,
  readCart,
  refreshPrices,
} from '../cart/index.ts'
import { type Order, paymentOf, type Saga } from '../order/domain.ts'
import {
  cancelUnpaidOrder,
  type FullOrder,
  loadSaga,
  type OrderDeps,
  type OrderView,
  orderOfAttempt,
  orderOfCart,
  orderView,
  placeOrder,
  readFullOrder,
  refreshSaga,
  refreshSagaOnReturn,
  requestSagaContext,
  runSaga,
  type SagaContext,
  type SagaRun,
  startNewPayment,
  voidOpenPayment,
  withoutReasons,
} from '../order/index.ts'
import { missingForCheckout } from './domain.ts'

type CheckoutRequest = {
  caller: CartCaller & { readonly shop: ShopContext }
  cartId: string
  /** The cart, if the caller has just read it. */
  loadedCart?: LoadedCart | undefined
  method: PaymentChoice['method']
  processor: string | undefined
  paymentToken: string | undefined
  returnUrl: string | undefined
  manualCode?: string | undefined
  /** The shopper's IP address. It limits unpaid orders. */
  address: string
  attempt: Attempt
  /**
   * The cart version and amount that the caller showed. A different one is not bought. With `total` it was not a person
   * who saw the cart, so what people saw of it does not matter.
   */
  expected?: { readonly updatedAt: number; readonly amountDue: number; readonly total?: number } | undefined
}

/** The response of a checkout: the order and the state of its payment. */
export type CheckoutAnswer = {
  order: Omit<OrderView, 'email'> & { email: string | null }
  payment: { processor: string | null; status: Payment['status'] | 'NOT_REQUIRED'; clientParameters: Record<string, unknown> }
}

/**
 * Buys a cart: places the order and runs its saga as far as it can go without the shopper. A retry with the same key
 * continues where it stopped. A new key for a cart whose payment failed starts a new payment.
 * @throws AppError INVALID, also for a stored address with an unknown province under `strictProvinces`; NOT_FOUND;
 *   CONFLICT when the cart cannot be bought as it is; the message says what changed
 */
export const checkOut = (deps: OrderDeps, request: CheckoutRequest): Promise<CheckoutAnswer> => checkOutAs(deps, request, answerOf)

/** Checks out as `checkOut` does. @param render renders the answer */
export async function checkOutAs<Answer>(
  deps: OrderDeps,
  request: CheckoutRequest,
  render: (full: FullOrder, publicUrl: string, showsPersonalData: boolean) => Answer,
): Promise<Answer> {
  const { caller, cartId, attempt, paymentToken } = request
  // JSON is an encrypted wallet token.
  if (paymentToken !== undefined && !paymentToken.startsWith('{') && holdsCardNumber(paymentToken))
    throw invalidField('paymentToken', 'looks like a card number: send the token that the processor returned')
  assertManual(request)
  const [cartRead, offering] = deps.db.read.inSnapshot(
    () => [request.loadedCart ?? loadCart(deps, caller, cartId), readOfferedProcessors(deps, caller.shop)] as const,
  )
  // A retry never needs the offers.
  offering.catch(() => undefined)
  const loadedCart = await cartRead
  const { cart } = loadedCart
  const isConverted = cart.status === 'CONVERTED'
  // An order belongs to the request that made it, even if the cart was reopened or bought again since.
  const orderOfRequest = isConverted || attempt.isResumed ? await orderOfAttempt(deps, cart.id, attempt.key) : undefined
  const otherOrder = isConverted && !orderOfRequest ? await orderOfCart(deps, cart.id) : undefined
  // Outside the write: the first call creates the instance key.
  const { urlOf } = await deps.orderLinks.ready()
  const context = requestSagaContext(deps, attempt.key)
  const step = { request, context, offering }
  const start = orderOfRequest
    ? await loadSaga(deps, orderOfRequest.id)
    : await (otherOrder ? payAgain(deps, otherOrder, step) : buyOrContinue(deps, loadedCart, step))
  // Another request on a guest's cart may pay, but sees no personal data.
  const showsPersonalData = !otherOrder || cart.customerId !== null
  const answer = (full: FullOrder) => render(full, urlOf(full.order.id), showsPersonalData)
  // Only this run makes the sale that the request is answered with.
  const response: SagaContext['response'] = { store: (tx, sold, isSure) => attempt.storeAnswer(tx, answer(sold), isSure) }
  const { order, sold } = await runSaga(deps, start.order.id, { ...context, response }, start)
  const full = sold ?? (await readFullOrder(deps, order.id))
  if (!full) throw new Error('an order is gone')
  return answer(full)
}

/** @throws AppError INVALID unless `manualCode` comes with `manual`, without a processor and a token */
function assertManual({ method, manualCode, processor, paymentToken }: CheckoutRequest): void {
  if (method !== 'manual') {
    if (manualCode !== undefined) throw invalidField('manualCode', 'only with method manual')
    return
  }
  if (manualCode === undefined) throw invalidField('manualCode', 'required with method manual', { code: 'missing_field' })
  for (const [field, value] of Object.entries({ processor, paymentToken }))
    if (value !== undefined) throw invalidField(field, 'not with method manual')
}

/**
 * Chooses the processors that can take this amount for a request.
 * @throws AppError CONFLICT where none can take it, or the shop does not offer the manual method; INVALID for a token
 *   that the processor does not know
 */
function choicesFor(deps: OrderDeps, { request, offering }: CheckoutStep, amount: Money): Promise<Choices> {
  const { caller, method, processor, paymentToken: token, returnUrl, attempt, manualCode: code = '' } = request
  if (method === 'manual') return selectManualMethod(deps, caller.shop, { code, attemptKey: attempt.key, amount: amount.amount })
  const processorRequest = { method, processor, token, returnUrl, attemptKey: attempt.key }
  return selectProcessor(deps, caller.shop, processorRequest, amount, offering)
}

/** `offering`: the processors that the shop offers, if they were read with the cart. */
type CheckoutStep = { request: CheckoutRequest; context: SagaContext; offering?: Promise<OfferedProcessors> }

/** Places an order for an open cart. A retry finds the order that its first attempt committed. */
async function buyOrContinue(deps: OrderDeps, loadedCart: LoadedCart, step: CheckoutStep): Promise<SagaRun> {
  const { request } = step
  try {
    return await placeNewOrder(deps, loadedCart, step)
  } catch (error) {
    const isRefused = error instanceof AppError && error.kind === 'CONFLICT'
    const orderOfRequest =
      isRefused && request.attempt.isResumed ? await orderOfAttempt(deps, request.cartId, request.attempt.key) : undefined
    if (!orderOfRequest) throw error
    return loadSaga(deps, orderOfRequest.id)
  }
}

/** @throws AppError CONFLICT if the cart cannot be bought as it is */
async function placeNewOrder(deps: OrderDeps, { cart, snapshot }: LoadedCart, step: CheckoutStep): Promise<SagaRun> {
  const { request, context } = step
  const { caller, address, attempt } = request
  const now = deps.clock.now()
  if (cart.status !== 'OPEN') throw notOpen(cart)
  const { shop, items } = snapshot
  assertOpen(shop)
  const price = priced(snapshot, now)
  const { expected } = request
  if (expected && (expected.updatedAt !== cart.updatedAt || expected.amountDue !== price.totals.amountDue))
    throw new AppError('CONFLICT', 'The cart changed since it was read. Read it again', { code: 'cart_changed' })
  // The address may be older than `strictProvinces`, or than the shop's rates and zones by province.
  assertProvinces(snapshot, cart, 'cart')
  const isReached = noticesIn(snapshot, price.totals).every(({ code }) => code !== 'NO_SHIPPING_METHOD')
  const isSent = needsShipping(snapshot)
  const shipsByMethod = shop.shippingMethods.length > 0 && isSent
  const sold = items.filter(isCardItem)
  const giftCards = sold.reduce((sum, { line }) => sum + line.quantity, 0)
  const missing = missingForCheckout(cart, { lines: items.length, shipsByMethod, isSent, isReached, giftCards })
  if (missing.length > 0 || cart.email === null)
    throw new AppError('CONFLICT', `The cart cannot be checked out: ${missing.join(', ')}`, { code: 'cart_incomplete' })
  const isToPerson = expected?.total === undefined
  const shownCart = isToPerson ? cart : { ...cart, shownTotal: expected.total, shownDue: expected.amountDue }
  const changes = changedSince({ ...snapshot, cart: shownCart }, now)
  if (changes.length > 0) {
    // Stores the current prices, so that the shopper sees them and the next request can buy.
    const conflict = new AppError('CONFLICT', `The cart has changed. ${changes.join('. ')}. Read the cart again`, { code: 'cart_changed' })
    await refreshPrices(deps, cart.id, (tx) => attempt.storeRefusal(tx, conflict), isToPerson)
    throw conflict
  }
  // All shoppers of a shop's own server share one address.
  const placedFrom = isServer(caller.principal) ? null : hmac({ bytes: await deps.instanceKeys.of('CLIENT_ADDRESSES') }, address)
  // The write that makes the sale needs the key, and cannot create it.
  if (giftCards > 0) await deps.instanceKeys.of('GIFT_CARD_CODES')
  const choices = await choicesFor(deps, step, { amount: price.totals.amountDue, currency: cart.currency })
  const purchase = { snapshot, mode: caller.shop.mode, priced: price, email: cart.email, placedFrom }
  return placeOrder(deps, purchase, choices, context).catch(async (error: unknown) => {
    // Refreshes the cart, so that the next read shows the exhausted discount.
    if (price.discounts.length > 0 && error instanceof AppError && error.kind === 'CONFLICT')
      await refreshPrices(deps, cart.id, (tx) => attempt.storeRefusal(tx, error), isToPerson)
    throw error
  })
}

/** @throws AppError CONFLICT in a suspended shop: it accepts no new orders or payments; running ones continue */
function assertOpen(shop: Shop): void {
  if (!isOpen(shop)) throw new AppError('CONFLICT', 'The shop is suspended and takes no orders', { code: 'shop_suspended' })
}

/**
 * Starts a new payment for an order of another request, once the previous payment has ended and its processor can no
 * longer capture it.
 * @throws AppError CONFLICT when nothing is left to pay; UNAVAILABLE when the previous processor does not answer
 */
async function payAgain(deps: OrderDeps, { id, shopId }: Order, step: CheckoutStep): Promise<SagaRun> {
  const { context } = step
  // The previous payment may be captured already, and its message lost.
  const current = await refreshSaga(deps, id, context)
  assertPayable(current, deps.clock.now())
  assertOpen(await readShop(deps, shopId))
  // Before the previous payment is voided: a request that no processor can serve changes nothing.
  const { amountDue: amount, currency } = current.order
  const choices = await choicesFor(deps, step, { amount, currency })
  const saga = await voidOpenPayment(deps, current, context)
  if (saga === 'taken') throw paymentInProgressError()
  if (saga === 'unanswered')
    throw new AppError('UNAVAILABLE', 'The payment processor cannot confirm that the previous payment has ended. Try again in a moment', {
      retryAfterSeconds: 5,
    })
  assertPayable(saga, deps.clock.now())
  return startNewPayment(deps, saga.order, choices, context)
}

const paymentInProgressError = () => new AppError('CONFLICT', 'A payment for this order is in progress', { code: 'payment_in_progress' })

function notPayableText({ status, number }: Pick<Order, 'status' | 'number'>): string {
  if (status === 'PENDING_PAYMENT' || status === 'EXPIRED')
    return `Order ${number} of this cart has expired. Cancel the checkout to change the cart and check out again`
  return status === 'CANCELLED'
    ? `Order ${number} of this cart was cancelled. Cancel the checkout to change the cart and check out again`
    : `This cart was already ordered (order ${number})`
}

function assertPayable(saga: Saga, now: number): void {
  const payment = paymentOf(saga)
  if (saga.order.status !== 'PENDING_PAYMENT' || saga.order.expiresAt <= now)
    throw new AppError('CONFLICT', notPayableText(saga.order), { code: 'cart_closed' })
  if (payment && isOpenPayment(payment)) throw paymentInProgressError()
}

function answerOf(full: FullOrder, publicUrl: string, showsPersonalData: boolean): CheckoutAnswer {
  const order = withoutReasons(orderView(full, publicUrl))
  return {
    order: showsPersonalData ? order : { ...order, email: null, shippingAddress: null, billingAddress: null },
    payment: paymentAnswer(paymentOf(full)),
  }
}

const paymentAnswer = (payment: Payment | undefined): CheckoutAnswer['payment'] =>
  payment
    ? { processor: payment.processor, status: payment.status, clientParameters: payment.clientParameters }
    : { processor: null, status: 'NOT_REQUIRED', clientParameters: {} }

/** What anyone with the cart's id may see of its order: no personal data. */
export type Returned = {
  order: Pick<OrderView, 'id' | 'number' | 'status' | 'paymentStatus' | 'total' | 'amountDue'>
  payment: CheckoutAnswer['payment']
}

/**
 * Updates an order when the shopper returns from the processor's page.
 * @throws AppError NOT_FOUND if the cart was never checked out
 */
export async function returnFromProcessor(deps: OrderDeps, caller: CartCaller, cartId: string): Promise<Returned> {
  const cart = await cartOf(deps, caller, cartId)
  const order = await orderOfCart(deps, cart.id)
  if (!order) throw new AppError('NOT_FOUND', 'The cart has not been checked out')
  const saga = await refreshSagaOnReturn(deps, order.id, requestSagaContext(deps, deps.newId('attempt')))
  return {
    order: { ...pick(saga.order, 'id', 'number', 'status', 'paymentStatus'), ...moneyOf(saga.order, 'total', 'amountDue') },
    payment: paymentAnswer(paymentOf(saga)),
  }
}

/**
 * Cancels an unpaid checkout and opens its cart again.
 * @throws AppError NOT_FOUND; CONFLICT if a payment succeeded or may still succeed, or if the cart has expired
 */
export async function cancelCheckout(deps: OrderDeps, caller: CartCaller, cartId: string): Promise<CartView> {
  const cart = await cartOf(deps, caller, cartId)
  if (cart.status === 'EXPIRED') throw notOpen(cart)
  const order = cart.status === 'CONVERTED' ? await orderOfCart(deps, cart.id) : undefined
  const { principal } = caller
  const actor = principal.kind === 'customer' ? principal.id : 'shopper'
  if (order) await cancelUnpaidOrder(deps, order.id, requestSagaContext(deps, deps.newId('attempt')), actor)
  const view = await readCart(deps, caller, cartId)
  // The cart of a draft keeps the draft's expiry when it is opened again.
  if (view.status === 'EXPIRED') throw notOpen(view)
  // An open cart tells the caller that nothing was bought.
  if (view.status !== 'OPEN') throw new AppError('CONFLICT', 'The cart was checked out by another request', { code: 'cart_changed' })
  return view
}
