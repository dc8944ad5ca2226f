import type { Writer } from '../../../../db/engine.ts'
import type { GiftCardRecipient } from '../../../../db/schema/selling.ts'
import { groupedLocking, type Write } from '../../../core/command-context.ts'
import { retryOnConflict } from '../../../core/conflict.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { newCartId } from '../../../lib/ids.ts'
import { storedMailAddress } from '../../../lib/mail-address.ts'
import type { Optional } from '../../../lib/objects.ts'
import { isGiftCard } from '../../catalog/product-kind/domain.ts'
import { availableCount, isSellable, type Sellable, shortageMessage } from '../../catalog/products/domain.ts'
import type { AddressFields } from '../../customers/customer/domain.ts'
import { emailOf, validateAddress } from '../../customers/customer/index.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { shopOf } from '../../shop/shop/index.ts'
import { noOffers } from '../discount/domain.ts'
import {
  assertNoDraft,
  assertNotSettled,
  type Cart,
  type CartLine,
  cartLifeMs,
  expiryAfter,
  linesMax,
  nextUpdatedAt,
  quantityMax,
  soldCardsMax,
} from './domain.ts'
import { type CartItem, type CartSnapshot, offersFor } from './pricing.ts'
import type { CartDeps } from './providers.ts'
import { type CartCaller, openCart, provincesFor, withOffers } from './service.ts'
import { assertProvinces } from './strict-provinces.ts'
import { type CartView, cartView, shownBy } from './view.ts'

/** A change of a cart: undefined keeps a field, null clears it. */
export type CartInput = Optional<
  Pick<Cart, 'email' | 'shippingMethod' | 'affiliateCode' | 'acceptsMarketing'> &
    Record<'shippingAddress' | 'billingAddress', AddressFields | null> & { giftCardRecipient: RecipientFields | null }
>
type RecipientFields = Pick<GiftCardRecipient, 'email'> & Optional<Omit<GiftCardRecipient, 'email'>>
/** The caller of a change, and the write that stores it. */
type CartChange = CartCaller & { readonly write?: Write | undefined }

const noSuchLine = () => new AppError('NOT_FOUND', 'No such line in the cart')

/**
 * Creates a cart in the shop's currency, for a customer or a guest.
 * @throws AppError INVALID, naming the field
 */
export async function createCart(deps: CartDeps, { shop: requestShop, principal }: CartCaller, input: CartInput): Promise<CartView> {
  const now = deps.clock.now()
  const shop = await shopOf(deps, requestShop)
  const blank = { ...blankCart(deps, shop, now), customerId: principal.kind === 'customer' ? principal.id : null }
  const empty = { shop, items: [], giftCards: [], provinces: await provincesFor(shop), offers: noOffers }
  const cart = { ...blank, ...(await contactOf(deps, shop.id, principal)), ...fieldsOf({ ...empty, cart: blank }, input, now) }
  const view = cartView({ ...empty, cart }, now)
  await deps.db.write((tx) => deps.cartStore.insert(tx, { ...cart, ...shownBy(view) }), groupedLocking('begin', shop.id))
  return view
}

/** Returns an empty cart. */
export const blankCart = (deps: Pick<CartDeps, 'randomBytes'>, shop: Pick<Shop, 'id' | 'currency'>, now: number): Cart => ({
  id: newCartId(deps.randomBytes),
  shopId: shop.id,
  customerId: null,
  currency: shop.currency,
  email: null,
  shippingAddress: null,
  billingAddress: null,
  shippingMethod: null,
  giftCardRecipient: null,
  affiliateCode: null,
  affiliateAt: null,
  discountCode: null,
  shownDiscounts: '',
  shownTotal: 0,
  shownDue: 0,
  draft: null,
  status: 'OPEN',
  expiresAt: now + cartLifeMs,
  createdAt: now,
  updatedAt: now,
  acceptsMarketing: false,
  remindedAt: null,
  restoredAt: null,
  agent: null,
})

/** A customer's cart starts with their e-mail address. */
const contactOf = async (deps: CartDeps, shopId: string, principal: CartCaller['principal']): Promise<Partial<Cart>> =>
  principal.kind === 'customer' ? { email: (await emailOf(deps, shopId, principal.id)) ?? null } : {}

/**
 * Changes a cart's fields, but not its lines.
 * @throws AppError INVALID, NOT_FOUND; CONFLICT for a cart that is not open
 */
export async function changeCart(deps: CartDeps, by: CartChange, cartId: string, input: CartInput): Promise<CartView> {
  const { shippingAddress, billingAddress } = input
  // Checked before any read: it does not depend on the cart.
  if (shippingAddress) validateAddress(shippingAddress, 'shippingAddress.')
  if (billingAddress) validateAddress(billingAddress, 'billingAddress.')
  return changeWithRetry(deps, by, cartId, async (snapshot, now) => {
    assertNotSettled(snapshot.cart, input)
    // A method's price may depend on the amount after discounts.
    const offered = input.shippingMethod ? await withOffers(deps, snapshot) : snapshot
    return { snapshot: { ...snapshot, cart: { ...snapshot.cart, ...fieldsOf(offered, input, now) } } }
  })
}

/**
 * Adds units of a variant to a cart.
 * @throws AppError INVALID; NOT_FOUND, also for a variant that shoppers do not see; CONFLICT when less is in stock, or
 *   the cart is full or not open
 */
export const addItem = (
  deps: CartDeps,
  by: CartChange,
  cartId: string,
  { variantId, quantity }: { variantId: string; quantity: number },
): Promise<CartView> =>
  changeWithRetry(
    deps,
    by,
    cartId,
    async (snapshot, now, found) => {
      const { cart, items } = snapshot
      assertNoDraft(cart)
      const existing = items.find(({ line }) => line.variantId === variantId)
      if (existing) return withQuantity(deps, snapshot, existing, existing.line.quantity + quantity, now)
      const sellable = assertSold(found, cart, quantity, now)
      if (items.length >= linesMax) throw new AppError('CONFLICT', `A cart can have at most ${linesMax} lines`, { code: 'limit_reached' })
      const line: CartLine = { id: deps.newId('line'), cartId, variantId, quantity, unitPrice: sellable.variant.price }
      return { snapshot: { ...snapshot, items: [...items, { line, sellable }] }, store: (tx) => deps.cartStore.insertLine(tx, line) }
    },
    variantId,
  )

/**
 * Sets the quantity of a line, at the current price.
 * @throws AppError INVALID, NOT_FOUND; CONFLICT as for `addItem`
 */
export const changeItem = (deps: CartDeps, by: CartChange, cartId: string, lineId: string, quantity: number): Promise<CartView> =>
  changeWithRetry(deps, by, cartId, async (snapshot, now) => {
    assertNoDraft(snapshot.cart)
    return withQuantity(deps, snapshot, itemOf(snapshot, lineId), quantity, now)
  })

/** @throws AppError NOT_FOUND; CONFLICT for a cart that is not open */
export const removeItem = (deps: CartDeps, by: CartChange, cartId: string, lineId: string): Promise<CartView> =>
  changeWithRetry(deps, by, cartId, async (snapshot) => {
    assertNoDraft(snapshot.cart)
    const { line } = itemOf(snapshot, lineId)
    const items = snapshot.items.filter((item) => item.line.id !== line.id)
    return { snapshot: { ...snapshot, items }, store: (tx) => deps.cartStore.removeLine(tx, line.id) }
  })

/** The cart after a change, and what stores it besides the cart itself. */
type Decision = { snapshot: CartSnapshot; store?: (tx: Writer) => Promise<void> }

/**
 * Changes a cart: reads it, lets `decide` compute the new state, and stores that if the cart is unchanged; otherwise
 * repeats. It reads before the write, because PostgreSQL's serializable reads would conflict between carts
 * that lie side by side. A change extends the cart's expiry, and assigns the cart to the customer who makes it.
 * @param extraVariantId a variant that `decide` needs besides those in the cart
 * @throws AppError NOT_FOUND; CONFLICT for a closed cart or a total that is too large
 */
export async function changeWithRetry(
  deps: CartDeps,
  { write = deps.db.write, ...caller }: CartChange,
  cartId: string,
  decide: (snapshot: CartSnapshot, now: number, extraVariant: Sellable | undefined) => Promise<Decision>,
  extraVariantId?: string,
): Promise<CartView> {
  const owner = caller.principal.kind === 'customer' ? { customerId: caller.principal.id } : {}
  const change = async (tries: number): Promise<CartView> => {
    const now = deps.clock.now()
    const {
      cart: before,
      snapshot: found,
      extraVariant: sellable,
    } = await openCart(deps, caller, cartId, { extraVariantId, acceptsCachedShop: tries === 0, isToChange: true })
    const { snapshot: decided, store } = await decide({ ...found, cart: { ...before, ...owner } }, now, sellable)
    const snapshot = await withOffers(deps, decided)
    const cart = { ...snapshot.cart, expiresAt: expiryAfter(before, now), updatedAt: nextUpdatedAt(before, now) }
    const view = cartView({ ...snapshot, cart }, now)
    return write(
      async (tx) => {
        await deps.cartStore.saveSurely(tx, { ...cart, ...shownBy(view) }, before)
        await store?.(tx)
        return view
      },
      groupedLocking('change', before.shopId),
    )
  }
  const tooMany = () => new AppError('UNAVAILABLE', 'Other requests keep changing the cart. Try again', { retryAfterSeconds: 1 })
  return retryOnConflict(change, tooMany)
}

/** @throws AppError unless the cart may hold this quantity */
function withQuantity(deps: CartDeps, snapshot: CartSnapshot, item: CartItem, quantity: number, now: number): Decision {
  const sellable = assertSold(item.sellable, snapshot.cart, quantity, now)
  const line = { ...item.line, quantity, unitPrice: sellable.variant.price }
  const items = snapshot.items.map((one) => (one.line.id === line.id ? { line, sellable } : one))
  return { snapshot: { ...snapshot, items }, store: (tx) => deps.cartStore.changeLine(tx, line) }
}

function itemOf({ items }: CartSnapshot, lineId: string): CartItem {
  const item = items.find(({ line }) => line.id === lineId)
  if (!item) throw noSuchLine()
  return item
}

/** @throws AppError unless the cart may hold this quantity of a variant */
function assertSold(sellable: Sellable | undefined, cart: Cart, quantity: number, now: number): Sellable {
  if (!sellable || !isSellable(sellable.product, now)) throw new AppError('NOT_FOUND', 'No such variant')
  if (sellable.product.currency !== cart.currency)
    throw invalidField('variantId', `must be sold in ${cart.currency}, the currency of the cart`)
  if (quantity > quantityMax) throw invalidField('quantity', `must be at most ${quantityMax}`)
  if (isGiftCard(sellable.product) && quantity > soldCardsMax) throw invalidField('quantity', `must be at most ${soldCardsMax} gift cards`)
  if (availableCount(sellable.variant) < quantity) throw new AppError('CONFLICT', shortageMessage(sellable), { code: 'out_of_stock' })
  return sellable
}

/**
 * Returns the cart's fields after a change.
 * @throws AppError INVALID
 */
export function fieldsOf(snapshot: CartSnapshot, input: CartInput, now: number): Partial<Cart> {
  const before = snapshot.cart
  const { email, shippingAddress, billingAddress, affiliateCode, acceptsMarketing, giftCardRecipient } = input
  const change: Partial<Cart> = {
    ...(email === undefined ? {} : { email: email && storedMailAddress(email) }),
    ...(shippingAddress === undefined ? {} : { shippingAddress: shippingAddress && validateAddress(shippingAddress, 'shippingAddress.') }),
    ...(billingAddress === undefined ? {} : { billingAddress: billingAddress && validateAddress(billingAddress, 'billingAddress.') }),
    ...(giftCardRecipient === undefined ? {} : { giftCardRecipient: giftCardRecipient && recipientOf(giftCardRecipient) }),
    ...(affiliateCode === undefined ? {} : affiliateOf(affiliateCode, now)),
    ...(acceptsMarketing === undefined ? {} : { acceptsMarketing }),
  }
  assertProvinces(snapshot, change, 'body')
  const shippingMethod = methodOf({ ...snapshot, cart: { ...before, ...change } }, input.shippingMethod, now)
  return shippingMethod === before.shippingMethod ? change : { ...change, shippingMethod }
}

const recipientOf = ({ email, name, message }: RecipientFields): GiftCardRecipient => ({
  email: storedMailAddress(email),
  name: name?.trim() || null,
  message: message?.trim() || null,
})

/** The affiliate of a code is looked up when an order is placed. */
const affiliateOf = (code: string | null, now: number): Pick<Cart, 'affiliateCode' | 'affiliateAt'> =>
  code === null ? { affiliateCode: null, affiliateAt: null } : { affiliateCode: code.trim().toLowerCase(), affiliateAt: now }

/** Returns the method after a change: a requested one must be offered; an earlier one is dropped when it is not. */
function methodOf(after: CartSnapshot, requested: string | null | undefined, now: number): string | null {
  const code = requested === undefined ? after.cart.shippingMethod : requested
  if (code === null) return null
  if (offersFor(after, now).some((offer) => offer.code === code)) return code
  if (requested === undefined) return null
  const isKnown = after.shop.shippingMethods.some((one) => one.code === code)
  throw invalidField(
    'shippingMethod',
    isKnown ? 'not offered for this cart and its shipping address' : 'must be a shipping method of the shop',
  )
}
