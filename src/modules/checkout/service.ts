import { AppError } from '../../core/errors.ts'
import type { Attempt } from '../../core/idempotency.ts'
import type { ShopContext } from '../../core/principal.ts'
import { moneyOf } from '../../lib/money.ts'
import { pick } from '../../lib/records.ts'
import { type Cart, noticesOf } from '../cart/domain.ts'
import { type CartCaller, cartOf, changedSince, priced, refreshPrices, snapshotOf } from '../cart/index.ts'
import type { Order, Saga } from '../order/domain.ts'
import {
  completeOrder,
  type OrderDeps,
  type OrderView,
  orderOfCart,
  payAgain,
  placeOrder,
  readOrder,
  takeUpPayment,
  withoutReasons,
} from '../order/index.ts'
import { isUnderWay, type Payment, type PaymentChoice } from '../payment/domain.ts'
import { chooseProcessor, paymentOfMessage, paymentsOf } from '../payment/index.ts'
import { lacking } from './domain.ts'

export type CheckoutRequest = {
  caller: CartCaller & { readonly shop: ShopContext }
  cartId: string
  method: PaymentChoice['method']
  processor: string | undefined
  paymentToken: string | undefined
  returnUrl: string | undefined
  attempt: Attempt
}

/** What the shopper's page learns: the order, and how its payment stands. */
export type CheckoutAnswer = {
  order: Omit<OrderView, 'email'> & { email: string | null }
  payment: { processor: string | null; status: Payment['status'] | 'NOT_REQUIRED'; clientParameters: Record<string, string> }
}

/**
 * Buys a cart: makes the order and takes it as far as it goes without the shopper. The same request sent again goes on where it
 * was; another one for a cart whose payment failed begins a new payment.
 * @throws AppError INVALID, NOT_FOUND; CONFLICT when the cart cannot be bought as it is, saying what changed
 */
export async function checkOut(deps: OrderDeps, request: CheckoutRequest): Promise<CheckoutAnswer> {
  const { caller, cartId } = request
  const choice = choiceOf(deps, request)
  const cart = await cartOf(deps, caller, cartId)
  const known = cart.status === 'CONVERTED' ? await orderOfCart(deps, cart.id) : undefined
  if (!known) return answerOf(deps, caller, await completeOrder(deps, await buy(deps, cart, choice)))
  const isSameRequest = await goOn(deps, known, choice, request.attempt.resumed)
  return answerOf(deps, caller, await completeOrder(deps, known.id), isSameRequest || cart.customerId !== null)
}

/** @throws AppError INVALID for a processor that the shop may not use, or a token that it does not know */
function choiceOf(
  deps: OrderDeps,
  { caller, method, processor: named, paymentToken: token, returnUrl, attempt }: CheckoutRequest,
): PaymentChoice {
  const processor = chooseProcessor(deps, caller.shop, { named, token })
  return { method, processor: processor.name, token, returnUrl, attemptKey: attempt.key }
}

/** Makes an order of an open cart. Returns its id. */
async function buy(deps: OrderDeps, cart: Cart, choice: PaymentChoice): Promise<string> {
  const now = deps.clock.now()
  if (cart.status !== 'OPEN') throw new AppError('CONFLICT', 'The cart is not open any more')
  const snapshot = await snapshotOf(deps, cart)
  const { shop, items } = snapshot
  const isReached = noticesOf(cart, shop, snapshot.provinces).every(({ code }) => code !== 'NO_SHIPPING_METHOD')
  const missing = lacking(cart, { lines: items.length, shipsByMethod: shop.shippingMethods.length > 0, isReached })
  if (missing.length > 0 || cart.email === null) throw new AppError('CONFLICT', `The cart cannot be bought yet: ${missing.join(', ')}`)
  const changes = changedSince(snapshot, now)
  if (changes.length > 0) {
    // In a write of its own, so that the shopper sees what is true now and may buy it at the next try.
    await refreshPrices(deps, cart.id)
    throw new AppError('CONFLICT', `The cart has changed. ${changes.join('. ')}. Look at the cart again`)
  }
  return placeOrder(deps, { snapshot, priced: priced(snapshot, now), email: cart.email }, choice)
}

/**
 * Goes on with the order that the cart became. Another request than the one that began its payment may begin a new one, once
 * that has ended.
 * @returns whether it is the same request
 * @throws AppError CONFLICT when there is nothing left to pay for
 */
async function goOn(deps: OrderDeps, order: Order, choice: PaymentChoice, resumed: boolean): Promise<boolean> {
  const begun = await paymentsOf(deps, order.id)
  if (begun.some(({ attemptKey }) => attemptKey === choice.attemptKey)) return true
  // An order that needs no payment has none to tell by whose it is.
  if (resumed && order.amountDue === 0) return true
  // The one before may be paid by now, and nobody has told us.
  const { order: current, payment } = await completeOrder(deps, order.id)
  if (current.status !== 'PENDING_PAYMENT' || current.expiresAt <= deps.clock.now())
    throw new AppError('CONFLICT', 'The cart was bought already, or its order has ended')
  if (payment && isUnderWay(payment)) throw new AppError('CONFLICT', 'A payment for this order is still under way')
  await payAgain(deps, current, choice)
  return false
}

/** @param withPerson false: whoever has a guest's cart may pay for it, and learns no more of the guest than the cart tells by now */
async function answerOf(deps: OrderDeps, { shop }: CartCaller, { order, payment }: Saga, withPerson = true): Promise<CheckoutAnswer> {
  const view = withoutReasons(await readOrder(deps, { shopId: shop.id }, order.id))
  return {
    order: withPerson ? view : { ...view, email: null, shippingAddress: null, billingAddress: null },
    payment: paymentAnswer(payment),
  }
}

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
export async function returnToOrder(deps: OrderDeps, caller: CartCaller, cartId: string): Promise<Returned> {
  const cart = await cartOf(deps, caller, cartId)
  const known = await orderOfCart(deps, cart.id)
  if (!known) throw new AppError('NOT_FOUND', 'The cart has not been checked out')
  const { order, payment } = await completeOrder(deps, known.id)
  return {
    order: { ...pick(order, 'id', 'number', 'status', 'paymentStatus'), ...moneyOf(order, 'total', 'amountDue') },
    payment: paymentAnswer(payment),
  }
}

/**
 * A processor's message. It is verified by its raw bytes, and what it says is then asked of the processor: a message that comes
 * twice, late or out of order changes nothing. One that is about no payment of ours is ignored.
 * @param account the processor's name, and whose account the message is about; undefined: the instance's own
 * @throws AppError UNAUTHENTICATED when no such processor is set up here, or the signature is not its; UNAVAILABLE when it does not answer
 */
export async function handleWebhook(
  deps: OrderDeps,
  account: { name: string; shopId: string | undefined },
  message: { body: Uint8Array; headers: Headers },
): Promise<void> {
  const payment = await paymentOfMessage(deps, account, message)
  if (payment) await takeUpPayment(deps, payment)
}
