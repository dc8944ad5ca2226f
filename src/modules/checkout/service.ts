import { AppError } from '../../core/errors.ts'
import type { Attempt } from '../../core/idempotency.ts'
import type { ShopContext } from '../../core/principal.ts'
import { moneyOf } from '../../lib/money.ts'
import { pick } from '../../lib/records.ts'
import { hmac } from '../../lib/seal.ts'
import { type Cart, noticesOf } from '../cart/domain.ts'
import {
  type CartCaller,
  type CartView,
  cartOf,
  changedSince,
  isServer,
  priced,
  readCart,
  refreshPrices,
  snapshotOf,
} from '../cart/index.ts'
import { type Order, paymentOf, type Saga } from '../order/domain.ts'
import {
  completeOrder,
  type Drive,
  type OrderDeps,
  type OrderView,
  orderOfCart,
  orderView,
  payAgain,
  placeOrder,
  readOrder,
  requestDrive,
  returnToSaga,
  takeOrderBack,
  takeUpPayment,
  withoutReasons,
} from '../order/index.ts'
import { isUnderWay, type Payment, type PaymentChoice } from '../payment/domain.ts'
import { chooseProcessor, paymentOfMessage, paymentsOf } from '../payment/index.ts'
import { isOpen, type Shop } from '../shop/domain.ts'
import { readShop } from '../shop/index.ts'
import { lacking } from './domain.ts'

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
  const { caller, cartId, attempt } = request
  const choice = choiceOf(deps, request)
  const cart = await cartOf(deps, caller, cartId)
  const known = cart.status === 'CONVERTED' ? await orderOfCart(deps, cart.id) : undefined
  const isSameRequest = known === undefined || (await isBegunBy(deps, known, choice, attempt.resumed))
  let kept: CheckoutAnswer | undefined
  const withPerson = isSameRequest || cart.customerId !== null
  const drive = requestDrive(deps, attempt.key, async (tx, sold) => {
    const answer = answerOf(withoutReasons(orderView(sold)), sold.payments, withPerson)
    await attempt.keep(tx, answer)
    tx.afterCommit(() => {
      kept = answer
    })
  })
  const begun = known ? await goOn(deps, known, choice, { isSameRequest, drive }) : await buy(deps, cart, choice, { request, drive })
  const saga = await completeOrder(deps, begun.order.id, drive, begun)
  return kept ?? answerOf(withoutReasons(await readOrder(deps, { shopId: caller.shop.id }, saga.order.id)), saga.payments, withPerson)
}

/** @throws AppError INVALID for a processor that the shop may not use, or a token that it does not know */
function choiceOf(
  deps: OrderDeps,
  { caller, method, processor: named, paymentToken: token, returnUrl, attempt }: CheckoutRequest,
): PaymentChoice {
  const processor = chooseProcessor(deps, caller.shop, { named, token })
  return { method, processor: processor.name, token, returnUrl, attemptKey: attempt.key }
}

/** Makes an order of an open cart. */
async function buy(
  deps: OrderDeps,
  cart: Cart,
  choice: PaymentChoice,
  { request: { caller, address }, drive }: { request: CheckoutRequest; drive: Drive },
): Promise<Saga> {
  const now = deps.clock.now()
  if (cart.status !== 'OPEN') throw new AppError('CONFLICT', 'The cart is not open any more')
  const snapshot = await snapshotOf(deps, cart)
  const { shop, items } = snapshot
  assertOpen(shop)
  const isReached = noticesOf(cart, shop, snapshot.provinces).every(({ code }) => code !== 'NO_SHIPPING_METHOD')
  const missing = lacking(cart, { lines: items.length, shipsByMethod: shop.shippingMethods.length > 0, isReached })
  if (missing.length > 0 || cart.email === null) throw new AppError('CONFLICT', `The cart cannot be bought yet: ${missing.join(', ')}`)
  const changes = changedSince(snapshot, now)
  if (changes.length > 0) {
    // In a write of its own, so that the shopper sees what is true now and may buy it at the next try.
    await refreshPrices(deps, cart.id)
    throw new AppError('CONFLICT', `The cart has changed. ${changes.join('. ')}. Look at the cart again`)
  }
  // Behind a shop's own server all of its shoppers come from one address.
  const placedFrom = isServer(caller.principal) ? null : hmac({ bytes: await deps.instanceKeys.of('CLIENT_ADDRESSES') }, address)
  return placeOrder(deps, { snapshot, priced: priced(snapshot, now), email: cart.email, placedFrom }, choice, drive.holder)
}

/** @throws AppError CONFLICT: in a shop that is suspended nothing new is bought or paid; what has begun goes on */
function assertOpen(shop: Shop): void {
  if (!isOpen(shop)) throw new AppError('CONFLICT', 'The shop is suspended: nothing can be bought in it')
}

/** Whether the request that is sent (again) is the one that began a payment of the order that the cart became. */
async function isBegunBy(deps: OrderDeps, order: Order, { attemptKey }: PaymentChoice, resumed: boolean): Promise<boolean> {
  // An order that needs no payment has none to tell by whose it is.
  if (resumed && order.amountDue === 0) return true
  return (await paymentsOf(deps, order.id)).some((payment) => payment.attemptKey === attemptKey)
}

/**
 * Goes on with the order that the cart became. Another request than the one that began its payment may begin a new one, once
 * that has ended.
 * @throws AppError CONFLICT when there is nothing left to pay for
 */
async function goOn(
  deps: OrderDeps,
  { id, shopId }: Order,
  choice: PaymentChoice,
  { isSameRequest, drive }: { isSameRequest: boolean; drive: Drive },
): Promise<Saga> {
  if (isSameRequest) return completeOrder(deps, id, drive)
  // The one before may be paid by now, and nobody has told us.
  const saga = await completeOrder(deps, id, { ...drive, keep: undefined })
  const { order: current } = saga
  const payment = paymentOf(saga)
  if (current.status !== 'PENDING_PAYMENT' || current.expiresAt <= deps.clock.now())
    throw new AppError('CONFLICT', 'The cart was bought already, or its order has ended')
  if (payment && isUnderWay(payment)) throw new AppError('CONFLICT', 'A payment for this order is still under way')
  assertOpen(await readShop(deps, shopId))
  await payAgain(deps, current, choice, drive.holder)
  return completeOrder(deps, id, drive)
}

/** @param withPerson false: whoever has a guest's cart may pay for it, and learns no more of the guest than the cart tells by now */
const answerOf = (view: OrderView, payments: readonly Payment[], withPerson: boolean): CheckoutAnswer => ({
  order: withPerson ? view : { ...view, email: null, shippingAddress: null, billingAddress: null },
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
export async function returnToOrder(deps: OrderDeps, caller: CartCaller, cartId: string): Promise<Returned> {
  const cart = await cartOf(deps, caller, cartId)
  const known = await orderOfCart(deps, cart.id)
  if (!known) throw new AppError('NOT_FOUND', 'The cart has not been checked out')
  const saga = await returnToSaga(deps, known.id, requestDrive(deps, deps.newId('attempt')))
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
export async function takeCheckoutBack(deps: OrderDeps, caller: CartCaller, cartId: string): Promise<CartView> {
  const cart = await cartOf(deps, caller, cartId)
  if (cart.status === 'EXPIRED') throw new AppError('CONFLICT', 'The cart is not open any more')
  const known = cart.status === 'CONVERTED' ? await orderOfCart(deps, cart.id) : undefined
  const { principal } = caller
  const actor = principal.kind === 'customer' ? principal.id : 'shopper'
  if (known) await takeOrderBack(deps, known.id, requestDrive(deps, deps.newId('attempt')), actor)
  return readCart(deps, caller, cartId)
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
