import { AppError } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { holdsCardNumber } from '../../../lib/card-numbers.ts'
import { type Money, moneyOf } from '../../../lib/money.ts'
import { pick } from '../../../lib/objects.ts'
import { hmac } from '../../../lib/seal.ts'
import { isOpenPayment, type Payment, type PaymentChoice } from '../../payments/payment/domain.ts'
import { type Choices, type OfferedProcessors, readOfferedProcessors, selectProcessor } from '../../payments/payment/index.ts'
import { isOpen, type Shop } from '../../shop/shop/domain.ts'
import { readShop } from '../../shop/shop/index.ts'
import {
  assertProvinces,
  type CartCaller,
  type CartView,
  cartOf,
  changedSince,
  isSentAtAll,
  isServer,
  type LoadedCart,
  loadCart,
  noticesIn,
  notOpen,
  priced,
  readCart,
  refreshPrices,
} from '../cart/index.ts'
import { type Order, paymentOf, type Saga } from '../order/domain.ts'
import {
  cancelUnpaidOrder,
  type OrderDeps,
  type OrderView,
  orderOfAttempt,
  orderOfCart,
  orderView,
  placeOrder,
  readOrder,
  refreshSaga,
  refreshSagaOnReturn,
  requestSagaContext,
  runSaga,
  type SagaContext,
  startNewPayment,
  voidOpenPayment,
  withoutReasons,
} from '../order/index.ts'
import { missingForCheckout } from './domain.ts'

export type CheckoutRequest = {
  caller: CartCaller & { readonly shop: ShopContext }
  cartId: string
  method: PaymentChoice['method']
  processor: string | undefined
  paymentToken: string | undefined
  returnUrl: string | undefined
  /** Of the shopper: unpaid orders are bounded by it. */
  address: string
  attempt: Attempt
  /** The very cart, and what was due of it, that the page showed which this comes from: nothing else is bought. */
  shown?: { readonly updatedAt: number; readonly amountDue: number } | undefined
}

/** What the shopper's page learns: the order, and how its payment stands. */
export type CheckoutAnswer = {
  order: Omit<OrderView, 'email'> & { email: string | null }
  payment: { processor: string | null; status: Payment['status'] | 'NOT_REQUIRED'; clientParameters: Record<string, unknown> }
}

/**
 * Buys a cart: makes the order and takes it as far as it goes without the shopper. The same request sent again goes on where it
 * was; another one for a cart whose payment failed begins a new payment.
 * @throws AppError INVALID, also for a stored address with an unknown province under `strictProvinces`; NOT_FOUND;
 *   CONFLICT when the cart cannot be bought as it is, saying what changed
 */
export async function checkOut(deps: OrderDeps, request: CheckoutRequest): Promise<CheckoutAnswer> {
  const { caller, cartId, attempt, paymentToken } = request
  // A wallet's JSON is sealed by the wallet.
  if (paymentToken !== undefined && !paymentToken.startsWith('{') && holdsCardNumber(paymentToken))
    throw new AppError('INVALID', 'paymentToken (body): looks like the number of a card: send what the library of the processor made of it')
  const [asked, offering] = deps.db.read.together(() => [loadCart(deps, caller, cartId), readOfferedProcessors(deps, caller.shop)] as const)
  // Not everybody pays.
  offering.catch(() => undefined)
  const whole = await asked
  const { cart } = whole
  const isConverted = cart.status === 'CONVERTED'
  // What a request has done stays its own, also when the cart was taken back since and is open, or has become another's order.
  const own = isConverted || attempt.resumed ? await orderOfAttempt(deps, cart.id, attempt.key) : undefined
  const known = own ?? (isConverted ? await orderOfCart(deps, cart.id) : undefined)
  const isSameRequest = known === own
  let kept: CheckoutAnswer | undefined
  // Not inside the write: an instance makes its key when it is first asked for.
  const { urlOf } = await deps.orderLinks.ready()
  const showsPersonalData = isSameRequest || cart.customerId !== null
  const context = requestSagaContext(deps, attempt.key, async (tx, sold, isSure) => {
    const answer = answerOf(withoutReasons(orderView(sold, urlOf(sold.order.id))), sold.payments, showsPersonalData)
    await attempt.keep(tx, answer, isSure)
    tx.afterCommit(() => {
      kept = answer
    })
  })
  const begun = known
    ? await continueOrder(deps, known, { isSameRequest, request, context })
    : await buyOrContinue(deps, whole, { request, context, offering })
  const saga = await runSaga(deps, begun.order.id, context, begun)
  return (
    kept ?? answerOf(withoutReasons(await readOrder(deps, { shopId: caller.shop.id }, saga.order.id)), saga.payments, showsPersonalData)
  )
}

/**
 * Chooses the processors that can take this amount for a request.
 * @throws AppError CONFLICT where none can take it; INVALID for a token that the processor does not know
 */
function choicesFor(deps: OrderDeps, { request, offering }: Buying, amount: Money): Promise<Choices> {
  const { caller, method, processor, paymentToken: token, returnUrl, attempt } = request
  const wish = { method, processor, token, returnUrl, attemptKey: attempt.key }
  return selectProcessor(deps, caller.shop, wish, amount, offering)
}

/**
 * Returns the first choice, and leaves the others to the request's run for the case that its processor does not begin
 * the payment.
 */
function takeFirstChoice({ first, fallbacks }: Choices, context: SagaContext): PaymentChoice {
  context.fallbacks?.push(...fallbacks)
  return first
}

/** `offering`: what may be paid by, where it was asked just now. */
type Buying = { request: CheckoutRequest; context: SagaContext; offering?: Promise<OfferedProcessors> }

/** Makes an order of an open cart. One that this request has made is its own, also where nobody heard of that commit until just now. */
async function buyOrContinue(deps: OrderDeps, whole: LoadedCart, buying: Buying): Promise<Saga> {
  const { request, context } = buying
  try {
    return await buy(deps, whole, buying)
  } catch (error) {
    const isRefused = error instanceof AppError && error.code === 'CONFLICT'
    const own = isRefused && request.attempt.resumed ? await orderOfAttempt(deps, request.cartId, request.attempt.key) : undefined
    if (!own) throw error
    return continueOrder(deps, own, { isSameRequest: true, request, context })
  }
}

/** @throws AppError CONFLICT for a cart that cannot be bought as it is */
async function buy(deps: OrderDeps, { cart, snapshot }: LoadedCart, buying: Buying): Promise<Saga> {
  const { request, context } = buying
  const { caller, address, attempt } = request
  const now = deps.clock.now()
  if (cart.status !== 'OPEN') throw notOpen()
  const { shop, items } = snapshot
  assertOpen(shop)
  const sum = priced(snapshot, now)
  const { shown } = request
  if (shown && (shown.updatedAt !== cart.updatedAt || shown.amountDue !== sum.totals.amountDue))
    throw new AppError('CONFLICT', 'The cart has changed since it was shown: look at it again')
  // Stored before the shop turned strictProvinces on, or before it had rates or zones by province.
  assertProvinces(snapshot, cart, 'cart')
  const isReached = noticesIn(snapshot, sum.totals).every(({ code }) => code !== 'NO_SHIPPING_METHOD')
  const shipsByMethod = shop.shippingMethods.length > 0 && isSentAtAll(snapshot)
  const missing = missingForCheckout(cart, { lines: items.length, shipsByMethod, isReached })
  if (missing.length > 0 || cart.email === null) throw new AppError('CONFLICT', `The cart cannot be bought yet: ${missing.join(', ')}`)
  const changes = changedSince(snapshot, now)
  if (changes.length > 0) {
    // So that the shopper sees what is true now and may buy it at the next try, which is another request than this one.
    const told = new AppError('CONFLICT', `The cart has changed. ${changes.join('. ')}. Look at the cart again`)
    await refreshPrices(deps, cart.id, (tx) => attempt.refuse(tx, told))
    throw told
  }
  // Behind a shop's own server all of its shoppers come from one address.
  const placedFrom = isServer(caller.principal) ? null : hmac({ bytes: await deps.instanceKeys.of('CLIENT_ADDRESSES') }, address)
  const choice = takeFirstChoice(await choicesFor(deps, buying, { amount: sum.totals.amountDue, currency: cart.currency }), context)
  const purchase = { snapshot, mode: caller.shop.mode, priced: sum, email: cart.email, placedFrom }
  return placeOrder(deps, purchase, choice, context).catch(async (error: unknown) => {
    // What was used up just now is seen at the next look at the cart, and bought without at the next try.
    if (sum.discounts.length > 0 && error instanceof AppError && error.code === 'CONFLICT')
      await refreshPrices(deps, cart.id, (tx) => attempt.refuse(tx, error))
    throw error
  })
}

/** @throws AppError CONFLICT: in a shop that is suspended nothing new is bought or paid; what has begun goes on */
function assertOpen(shop: Shop): void {
  if (!isOpen(shop)) throw new AppError('CONFLICT', 'The shop is suspended: nothing can be bought in it')
}

/**
 * Goes on with the order that the cart became. Another request than the one that began its payment may begin a new one, once
 * that has ended, and its processor will not take money for it any more.
 * @throws AppError CONFLICT when there is nothing left to pay for; UNAVAILABLE when the processor of the one before does not answer
 */
async function continueOrder(
  deps: OrderDeps,
  { id, shopId }: Order,
  { isSameRequest, ...buying }: Buying & { isSameRequest: boolean },
): Promise<Saga> {
  const { context } = buying
  if (isSameRequest) return runSaga(deps, id, context)
  const quiet = { ...context, keep: undefined }
  // The one before may be paid by now, and nobody has told us.
  const found = await refreshSaga(deps, id, quiet)
  assertPayable(found, deps.clock.now())
  assertOpen(await readShop(deps, shopId))
  // Before the payment before is given up: a request that nobody can take changes nothing.
  const { amountDue: amount, currency } = found.order
  const choices = await choicesFor(deps, buying, { amount, currency })
  const saga = await voidOpenPayment(deps, found, quiet)
  if (saga === 'taken') throw underWay()
  if (saga === 'silent')
    throw new AppError('UNAVAILABLE', 'The processor does not say whether the payment before may still succeed: try again in a moment', {
      retryAfterSeconds: 5,
    })
  assertPayable(saga, deps.clock.now())
  await startNewPayment(deps, saga.order, takeFirstChoice(choices, context), context)
  return runSaga(deps, id, context)
}

const underWay = () => new AppError('CONFLICT', 'A payment for this order is still under way')

function assertPayable(saga: Saga, now: number): void {
  const payment = paymentOf(saga)
  if (saga.order.status !== 'PENDING_PAYMENT' || saga.order.expiresAt <= now)
    throw new AppError('CONFLICT', 'The cart was bought already, or its order has ended')
  if (payment && isOpenPayment(payment)) throw underWay()
}

/** @param showsPersonalData false: whoever has a guest's cart may pay for it, and learns no more of the guest than the cart tells by now */
const answerOf = (view: OrderView, payments: readonly Payment[], showsPersonalData: boolean): CheckoutAnswer => ({
  order: showsPersonalData ? view : { ...view, email: null, shippingAddress: null, billingAddress: null },
  payment: paymentAnswer(paymentOf({ payments })),
})

const paymentAnswer = (payment: Payment | undefined): CheckoutAnswer['payment'] =>
  payment
    ? { processor: payment.processor, status: payment.status, clientParameters: payment.clientParameters }
    : { processor: null, status: 'NOT_REQUIRED', clientParameters: {} }

/** What anybody who holds the cart may know of its order: nothing of the person. */
export type Returned = {
  order: Pick<OrderView, 'id' | 'number' | 'status' | 'paymentStatus' | 'total' | 'amountDue'>
  payment: CheckoutAnswer['payment']
}

/**
 * The shopper is back from the processor's page: the order goes as far as it can.
 * @throws AppError NOT_FOUND when the cart never became an order
 */
export async function returnFromProcessor(deps: OrderDeps, caller: CartCaller, cartId: string): Promise<Returned> {
  const cart = await cartOf(deps, caller, cartId)
  const known = await orderOfCart(deps, cart.id)
  if (!known) throw new AppError('NOT_FOUND', 'The cart has not been checked out')
  const saga = await refreshSagaOnReturn(deps, known.id, requestSagaContext(deps, deps.newId('attempt')))
  const { order } = saga
  return {
    order: { ...pick(order, 'id', 'number', 'status', 'paymentStatus'), ...moneyOf(order, 'total', 'amountDue') },
    payment: paymentAnswer(paymentOf(saga)),
  }
}

/**
 * The shopper changes their mind: an unpaid checkout is taken back, and its cart is open again.
 * @throws AppError NOT_FOUND; CONFLICT while a payment may still succeed, when one has, and for a cart that has expired
 */
export async function cancelCheckout(deps: OrderDeps, caller: CartCaller, cartId: string): Promise<CartView> {
  const cart = await cartOf(deps, caller, cartId)
  if (cart.status === 'EXPIRED') throw new AppError('CONFLICT', 'The cart is not open any more')
  const known = cart.status === 'CONVERTED' ? await orderOfCart(deps, cart.id) : undefined
  const { principal } = caller
  const actor = principal.kind === 'customer' ? principal.id : 'shopper'
  if (known) await cancelUnpaidOrder(deps, known.id, requestSagaContext(deps, deps.newId('attempt')), actor)
  const view = await readCart(deps, caller, cartId)
  // Whoever is told that it is open believes that nothing was bought.
  if (view.status !== 'OPEN') throw new AppError('CONFLICT', 'The cart was checked out again meanwhile')
  return view
}
