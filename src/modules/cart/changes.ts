import type { Writer } from '../../../db/engine.ts'
import type { Keep } from '../../http/idempotency.ts'
import { AppError } from '../../lib/errors.ts'
import { newCartId } from '../../lib/ids.ts'
import { availableCount, isSellable, type Sellable, shortageOf } from '../catalog/domain.ts'
import { sellables } from '../catalog/service.ts'
import { type AddressFields, addressOf } from '../customer/domain.ts'
import { isCountry } from '../location/domain.ts'
import type { Shop } from '../shop/store.ts'
import { type Cart, type CartLine, cartLifeMs, isOffered, linesMax, quantityMax } from './domain.ts'
import {
  type CartCaller,
  type CartContents,
  type CartDeps,
  type CartItem,
  type CartView,
  cartOf,
  cartView,
  contentsIn,
  notOpen,
  reachOf,
  shopOf,
} from './service.ts'

/** What a create or a change says; what is undefined stays as it is, null clears. */
export type CartInput = {
  email?: string | null | undefined
  shippingAddress?: AddressFields | null | undefined
  billingAddress?: AddressFields | null | undefined
  /** The code of one of the shop's methods. */
  shippingMethod?: string | null | undefined
  affiliateCode?: string | null | undefined
}
/** Who does it, and what keeps the answer of an idempotent request. */
export type CartWrite = CartCaller & { readonly keep?: Keep }

const invalid = (message: string) => new AppError('INVALID', message)
const noSuchLine = () => new AppError('NOT_FOUND', 'No such line in the cart')

/**
 * Begins a cart in the shop's currency: a customer's own, or a guest's.
 * @throws AppError INVALID, naming the field
 */
export async function createCart(deps: CartDeps, { shop: { id }, principal, keep }: CartWrite, input: CartInput): Promise<CartView> {
  const now = deps.clock.now()
  const shop = await shopOf(deps, id)
  const blank: Cart = {
    id: newCartId(deps.randomBytes),
    shopId: shop.id,
    customerId: principal.kind === 'customer' ? principal.id : null,
    currency: shop.currency,
    email: null,
    shippingAddress: null,
    billingAddress: null,
    shippingMethod: null,
    affiliateCode: null,
    affiliateAt: null,
    status: 'OPEN',
    expiresAt: now + cartLifeMs,
    createdAt: now,
    updatedAt: now,
  }
  const cart = { ...blank, ...fieldsOf(blank, input, shop, now) }
  const view = cartView({ cart, shop, items: [], giftCards: [] }, now)
  await deps.db.write(async (tx) => {
    await deps.cartStore.insert(tx, cart)
    await keep?.(tx, view)
  })
  return view
}

/**
 * Changes what is known of a cart besides its lines.
 * @throws AppError INVALID, NOT_FOUND, CONFLICT for a cart that is not open
 */
export const changeCart = (deps: CartDeps, write: CartWrite, cartId: string, input: CartInput): Promise<CartView> =>
  changing(deps, write, cartId, async (tx, contents, now) => {
    const { cart, shop } = contents
    const change = fieldsOf(cart, input, shop, now)
    if (Object.keys(change).length > 0) await deps.cartStore.change(tx, cart.id, change)
    return { ...contents, cart: { ...cart, ...change } }
  })

/**
 * Puts a variant into a cart; of one that is there already, so many more.
 * @throws AppError INVALID; NOT_FOUND also for a variant that shoppers do not see; CONFLICT when there is less in stock, the cart
 *   is full or not open
 */
export function addItem(
  deps: CartDeps,
  write: CartWrite,
  cartId: string,
  { variantId, quantity }: { variantId: string; quantity: number },
): Promise<CartView> {
  const newLineId = deps.newId('line')
  return changing(deps, write, cartId, async (tx, contents, now) => {
    const { cart, items } = contents
    const known = items.find(({ line }) => line.variantId === variantId)
    const found = known?.sellable ?? (await sellables(deps, [variantId], cart.shopId, tx)).get(variantId)
    const wanted = (known?.line.quantity ?? 0) + quantity
    const sellable = assertSold(found, cart, wanted, now)
    const line: CartLine = { id: known?.line.id ?? newLineId, cartId, variantId, quantity: wanted, unitPrice: sellable.variant.price }
    if (known) {
      await deps.cartStore.changeLine(tx, line)
      return withItem(contents, { line, sellable })
    }
    if (items.length >= linesMax) throw new AppError('CONFLICT', `A cart holds at most ${linesMax} lines`)
    await deps.cartStore.insertLine(tx, line)
    return { ...contents, items: [...items, { line, sellable }] }
  })
}

/**
 * Changes how many of a line's variant are in the cart, at the price of now.
 * @throws AppError INVALID, NOT_FOUND, CONFLICT as for `addItem`
 */
export const changeItem = (deps: CartDeps, write: CartWrite, cartId: string, lineId: string, quantity: number): Promise<CartView> =>
  changing(deps, write, cartId, async (tx, contents, now) => {
    const item = itemOf(contents, lineId)
    const sellable = assertSold(item.sellable, contents.cart, quantity, now)
    const line = { ...item.line, quantity, unitPrice: sellable.variant.price }
    await deps.cartStore.changeLine(tx, line)
    return withItem(contents, { line, sellable })
  })

/** @throws AppError NOT_FOUND, CONFLICT for a cart that is not open */
export const removeItem = (deps: CartDeps, write: CartWrite, cartId: string, lineId: string): Promise<CartView> =>
  changing(deps, write, cartId, async (tx, contents) => {
    const { line } = itemOf(contents, lineId)
    await deps.cartStore.removeLine(tx, line.id)
    return { ...contents, items: contents.items.filter((item) => item.line.id !== line.id) }
  })

/**
 * Changes a cart in one write: finds it open and within reach, gives it more time and to the customer who changes it, hands what
 * it holds to `effect`, and answers with what that leaves.
 * @param effect runs inside the write, perhaps more than once
 * @throws AppError NOT_FOUND, CONFLICT for a cart that is not open or comes to more than can be stored
 */
export async function changing(
  deps: CartDeps,
  { shop: { id: shopId }, principal, keep }: CartWrite,
  cartId: string,
  effect: (tx: Writer, contents: CartContents, now: number) => Promise<CartContents>,
): Promise<CartView> {
  const now = deps.clock.now()
  const shop = await shopOf(deps, shopId)
  const touched = { id: cartId, shopId, reach: reachOf(principal), now, expiresAt: now + cartLifeMs }
  return deps.db.write(async (tx) => {
    const cart = await deps.cartStore.touch(tx, touched)
    if (!cart) {
      await cartOf(deps, { shop, principal }, cartId, tx)
      throw notOpen()
    }
    const view = cartView(await effect(tx, await contentsIn(deps, cart, shop, tx), now), now)
    await keep?.(tx, view)
    return view
  })
}

function itemOf({ items }: CartContents, lineId: string): CartItem {
  const item = items.find(({ line }) => line.id === lineId)
  if (!item) throw noSuchLine()
  return item
}

const withItem = (contents: CartContents, changed: CartItem): CartContents => ({
  ...contents,
  items: contents.items.map((item) => (item.line.id === changed.line.id ? changed : item)),
})

/** @throws AppError unless so many of a variant may be in the cart */
function assertSold(sellable: Sellable | undefined, cart: Cart, quantity: number, now: number): Sellable {
  if (!sellable || !isSellable(sellable.product, now)) throw new AppError('NOT_FOUND', 'No such variant')
  if (sellable.product.currency !== cart.currency) throw invalid(`variantId (body): not sold in ${cart.currency}, the currency of the cart`)
  if (quantity > quantityMax) throw invalid(`quantity (body): at most ${quantityMax} of a variant`)
  if (availableCount(sellable.variant) < quantity) throw new AppError('CONFLICT', shortageOf(sellable))
  return sellable
}

function fieldsOf(before: Cart, input: CartInput, shop: Shop, now: number): Partial<Cart> {
  const { email, shippingAddress, billingAddress, affiliateCode } = input
  const change: Partial<Cart> = {
    ...(email === undefined ? {} : { email }),
    ...(shippingAddress === undefined ? {} : { shippingAddress: addressIn(shippingAddress, 'shippingAddress') }),
    ...(billingAddress === undefined ? {} : { billingAddress: addressIn(billingAddress, 'billingAddress') }),
    ...(affiliateCode === undefined ? {} : affiliateOf(affiliateCode, now)),
  }
  const shippingMethod = methodOf({ ...before, ...change }, input.shippingMethod, shop)
  return shippingMethod === before.shippingMethod ? change : { ...change, shippingMethod }
}

function addressIn(given: AddressFields | null, field: string): Cart['shippingAddress'] {
  if (given === null) return null
  if (!isCountry(given.countryCode)) throw invalid(`${field}.countryCode (body): not an ISO 3166-1 country`)
  return addressOf(given)
}

/** Whose code it is, if anybody's, is looked up once there is an order. */
const affiliateOf = (code: string | null, now: number): Pick<Cart, 'affiliateCode' | 'affiliateAt'> =>
  code === null ? { affiliateCode: null, affiliateAt: null } : { affiliateCode: code.trim().toLowerCase(), affiliateAt: now }

/** The method after a change: the one that is asked for must be offered; the one chosen before goes when it is not any more. */
function methodOf(after: Cart, asked: string | null | undefined, { shippingMethods }: Shop): string | null {
  const code = asked === undefined ? after.shippingMethod : asked
  if (code === null) return null
  const method = shippingMethods.find((one) => one.code === code)
  if (method && isOffered(method, after.currency, after.shippingAddress?.countryCode)) return code
  if (asked === undefined) return null
  throw invalid(
    `shippingMethod (body): ${method ? 'not offered for this cart and its shipping address' : 'no shipping method of the shop'}`,
  )
}
