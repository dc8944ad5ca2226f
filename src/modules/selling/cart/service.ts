import type { Writer } from '../../../../db/engine.ts'
import { locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { Principal, ShopContext } from '../../../core/principal.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { pick } from '../../../lib/objects.ts'
import type { Sellable } from '../../catalog/products/domain.ts'
import { sellables, sellablesInCart } from '../../catalog/products/index.ts'
import { loadProvinceTable, noProvinces, type Provinces } from '../../shop/countries/domain.ts'
import { needsProvinces } from '../../shop/shipping/domain.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { readShop, shopOf } from '../../shop/shop/index.ts'
import { noOffers, type Offer } from '../discount/domain.ts'
import { offersOfCart, offersWith } from '../discount/index.ts'
import { giftCardsByIds } from '../gift-card/index.ts'
import { type Cart, type CartAccess, canAccessCart, cartLifeMs, nextUpdatedAt, statusAt } from './domain.ts'
import { type CartSnapshot, lostCode, priced, priceNow, spentCards } from './pricing.ts'
import type { CartDeps } from './providers.ts'
import type { CartContents } from './store.ts'
import { type CartView, cartView, shownAs, shownBy, soldView } from './view.ts'

/** Who asks for a cart, in which shop. */
export type CartCaller = {
  readonly shop: Pick<ShopContext, 'id'>
  readonly principal: Principal
  /** They have the link of its draft, and so may pay it whosever it is. */
  readonly hasLink?: true
}

/** Of one write. */
const cartsAtOnce = 200
/** Carts that became orders, or expired, are looked at for so long after their last change. */
const overKeptMs = 90 * dayMs

/** The same whether there is none or it is somebody else's. */
export const noSuchCart = () => new AppError('NOT_FOUND', 'No such cart')
/** The refusal of a change to a cart that is over. */
export const notOpen = () => new AppError('CONFLICT', 'The cart is not open any more')

/**
 * The carts of their shop that somebody reaches: a publishable key those of guests, a customer these and their own, the shop's
 * own people and its secret key all.
 */
export function cartAccessOf(principal: Principal): CartAccess {
  if (principal.kind === 'customer') return { customerId: principal.id }
  const isShop = principal.kind === 'merchant' || isServer(principal)
  return isShop ? 'all' : 'guests'
}

/** Whether it is a shop's secret key that asks. */
export const isServer = (principal: Principal): boolean => principal.kind === 'key' && principal.scopes.includes('server')

/**
 * A cart as it reads now: one whose time is over is EXPIRED.
 * @throws AppError NOT_FOUND, also for one that is out of the caller's reach
 */
export const cartOf = async (deps: CartDeps, caller: CartCaller, cartId: string): Promise<Cart> =>
  assertAccess(deps, caller, await deps.cartStore.find(cartId))

function assertAccess({ clock }: CartDeps, { shop, principal, hasLink }: CartCaller, cart: Cart | undefined): Cart {
  if (!cart || cart.shopId !== shop.id || !canAccessCart(hasLink ? 'all' : cartAccessOf(principal), cart)) throw noSuchCart()
  return { ...cart, status: statusAt(cart, clock.now()) }
}

/** What a cart holds and what its price depends on, as it is stored now. */
export async function snapshotOf(deps: CartDeps, cart: Cart): Promise<CartSnapshot> {
  const { id, shopId } = cart
  const { cartStore, db } = deps
  const parts = db.read.together(
    () => [readShop(deps, shopId), cartStore.contentsOf(id), sellablesInCart(deps, id, shopId), offersOfCart(deps, shopId, id)] as const,
  )
  const [shop, contents, found, offered] = await Promise.all(parts)
  return withOffers(deps, await buildSnapshot(deps, { cart, shop, contents, found, offered }))
}

/** A cart and what it holds; `extraVariant`: the variant that was asked for extraVariants, where the shop has it. */
export type LoadedCart = { readonly cart: Cart; readonly snapshot: CartSnapshot; readonly extraVariant: Sellable | undefined }

type LoadOptions = {
  /** A variant that may not be in the cart. */
  readonly extraVariantId?: string | undefined
  /** The shop as it was when the request was let in is good enough. */
  readonly acceptsCachedShop?: boolean
  /** What discounts depend on besides the cart is asked for by the caller, by `withOffers`. */
  readonly isToChange?: boolean
}

/**
 * A cart and what it holds, as of one moment: read one after the other, they may be of before and after somebody's change.
 * @throws AppError NOT_FOUND as `cartOf`
 */
export async function loadCart(
  deps: CartDeps,
  caller: CartCaller,
  cartId: string,
  { extraVariantId, acceptsCachedShop = false, isToChange = false }: LoadOptions = {},
): Promise<LoadedCart> {
  const { cartStore, db } = deps
  const { id: shopId } = caller.shop
  const parts = db.read.together(
    () =>
      [
        cartStore.find(cartId),
        acceptsCachedShop ? shopOf(deps, caller.shop) : readShop(deps, shopId),
        cartStore.contentsOf(cartId),
        sellablesInCart(deps, cartId, shopId),
        sellables(deps, extraVariantId === undefined ? [] : [extraVariantId], shopId),
        offersOfCart(deps, shopId, cartId),
      ] as const,
  )
  const [storedCart, shop, contents, found, extraVariants, offered] = await Promise.all(parts)
  const cart = assertAccess(deps, caller, storedCart)
  const snapshot = await buildSnapshot(deps, { cart, shop, contents, found, offered })
  return {
    cart,
    snapshot: isToChange ? snapshot : await withOffers(deps, snapshot),
    extraVariant: extraVariantId === undefined ? undefined : extraVariants.get(extraVariantId),
  }
}

/**
 * A cart that is to be changed or bought, and what it holds, as of one moment.
 * @throws AppError NOT_FOUND as `cartOf`, CONFLICT for one that is not open
 */
export async function openCart(deps: CartDeps, caller: CartCaller, cartId: string, options: LoadOptions = {}): Promise<LoadedCart> {
  const found = await loadCart(deps, caller, cartId, options)
  if (found.cart.status !== 'OPEN') throw notOpen()
  return found
}

type CartParts = { cart: Cart; shop: Shop; contents: CartContents; found: ReadonlyMap<string, Sellable>; offered: readonly Offer[] }

async function buildSnapshot(deps: CartDeps, { cart, shop, contents, found, offered }: CartParts): Promise<CartSnapshot> {
  const { lines, giftCardIds } = contents
  const [giftCards, loadProvinceTable] = await Promise.all([giftCardsByIds(deps, giftCardIds), provincesFor(shop)])
  const items = lines.map((line) => ({ line, sellable: found.get(line.variantId) }))
  return { cart, shop, items, giftCards, provinces: loadProvinceTable, offers: { ...noOffers, all: offered } }
}

/** A cart as it is priced, with what its discounts depend on extraVariants: asked for once it is known what is in it, and whose it is. */
export async function withOffers(deps: CartDeps, snapshot: CartSnapshot): Promise<CartSnapshot> {
  const { cart: shopper, shop, items, offers } = snapshot
  if (offers.all.length === 0) return snapshot
  // A change may have taken its code off the cart. Of a draft, the shop has said what it costs: no discount comes to it by itself.
  const all = offers.all.filter(({ codeKey }) => (codeKey === null ? shopper.draft === null : codeKey === shopper.discountCode))
  const productIds = items.flatMap(({ sellable }) => (sellable ? [sellable.product.id] : []))
  return { ...snapshot, offers: await offersWith(deps, all, { shopper, mode: shop.mode, productIds }) }
}

/** What is needed to tell the regions of a shop's tax rates and zones: of one that has none, nothing is loaded. */
export const provincesFor = async ({ taxRates, shippingMethods }: Pick<Shop, 'taxRates' | 'shippingMethods'>): Promise<Provinces> =>
  taxRates.some(({ region }) => region) || needsProvinces(shippingMethods) ? loadProvinceTable() : noProvinces

/**
 * Takes over the prices of now, and takes off what cannot be had any more (shipping method, gift cards, discount code), so that the shopper sees
 * it. A cart that somebody changes at the same time is left alone.
 * @param tell keeps what the shopper is told of it, in the same write: whoever did not hear of it must not buy at the new price
 */
export async function refreshPrices(deps: CartDeps, cartId: string, tell: (tx: Writer) => Promise<void>): Promise<void> {
  const now = deps.clock.now()
  const cart = await deps.cartStore.find(cartId)
  if (!cart || statusAt(cart, now) !== 'OPEN') return
  const snapshot = await snapshotOf(deps, cart)
  const offered = priced(snapshot, now).shipping?.code ?? null
  const after = {
    ...cart,
    // What the shop has settled it changes itself: nobody is to pay more than it said because something has ended.
    shippingMethod: cart.draft?.settled.includes('shippingMethod') ? cart.shippingMethod : offered,
    discountCode: cart.draft !== null || lostCode(snapshot, now) === undefined ? cart.discountCode : null,
    updatedAt: nextUpdatedAt(cart, now),
  }
  const spent = spentCards(snapshot, now).map(({ id }) => id)
  const { totals, discounts } = priced({ ...snapshot, cart: after }, now)
  const shown = { shownTotal: totals.total, shownDue: totals.amountDue, shownDiscounts: shownAs(discounts.map(({ offer }) => offer)) }
  await deps.db.write(async (tx) => {
    if (!(await deps.cartStore.save(tx, { ...after, ...shown }, cart))) return
    for (const item of snapshot.items) {
      const unitPrice = priceNow(item, cart, now)
      if (unitPrice !== item.line.unitPrice) await deps.cartStore.changeLine(tx, { ...item.line, unitPrice })
    }
    if (spent.length > 0) await deps.cartStore.removeGiftCards(tx, cartId, spent)
    await tell(tx)
  }, locking)
}

/**
 * A cart as the API answers it: one that became an order comes to what that does. What a shopper is shown of an open one's price is
 * noted, so that the checkout knows.
 * @throws AppError NOT_FOUND, also for one that is out of the caller's reach
 */
export async function readCart(deps: CartDeps, caller: CartCaller, cartId: string): Promise<CartView> {
  const { cart, view, isSold } = await viewCart(deps, caller, cartId)
  if (isSold) return view
  const shown = shownBy(view)
  const isNew = shown.shownTotal !== cart.shownTotal || shown.shownDue !== cart.shownDue || shown.shownDiscounts !== cart.shownDiscounts
  // Taxes, shipping or a gift card's balance have changed, and now the shopper knows. Where that cannot be noted, the checkout tells.
  if (!isServer(caller.principal) && cart.status === 'OPEN' && isNew)
    await deps.db
      .write((tx) => deps.cartStore.noteShown(tx, { ...cart, ...shown }), locking)
      .catch((error: unknown) => deps.log.warn('cart.shown_not_noted', { error }))
  return view
}

/** The same for whoever does not buy it: nothing is noted. @throws AppError NOT_FOUND, also for one that is out of the caller's reach */
export async function viewCart(
  deps: CartDeps,
  caller: CartCaller,
  cartId: string,
): Promise<{ cart: Cart; snapshot: CartSnapshot; view: CartView; isSold: boolean }> {
  const { cart, snapshot } = await loadCart(deps, caller, cartId)
  const sold = cart.status === 'CONVERTED' ? await deps.cartStore.soldFor(cart.id) : undefined
  const now = deps.clock.now()
  return { cart, snapshot, view: sold ? soldView(snapshot, sold, now) : cartView(snapshot, now), isSold: sold !== undefined }
}

/**
 * Makes an open cart that of an order, inside the order's write, and forgets its e-mail address and addresses.
 * @param cart as it was read: what was changed since is not what the order is made of
 * @returns false when the cart is not open any more, or was changed
 */
export const convertCart = (
  tx: Writer,
  { cartStore, clock }: Pick<CartDeps, 'cartStore' | 'clock'>,
  { id, updatedAt }: Pick<Cart, 'id' | 'updatedAt'>,
): Promise<boolean> => cartStore.convert(tx, { id, now: clock.now(), updatedAt })

/** The same, which nobody waits for: where it would be false, the write throws NothingChanged. */
export const convertCartSurely = (
  tx: Writer,
  { cartStore, clock }: Pick<CartDeps, 'cartStore' | 'clock'>,
  { id, updatedAt }: Pick<Cart, 'id' | 'updatedAt'>,
): Promise<void> => cartStore.convertSurely(tx, { id, now: clock.now(), updatedAt })

/** Has a cart to itself for the rest of a write: nobody buys it meanwhile. @returns it as it is then; undefined when it is gone */
export const lockCart = (tx: Writer, { cartStore }: Pick<CartDeps, 'cartStore'>, id: string): Promise<Cart | undefined> =>
  cartStore.lock(tx, id)

/**
 * Opens the cart of an order again that came to nothing, inside a write, with what it forgot of the person.
 * @returns false when the cart is not that of an order any more
 */
export const reopenCart = (
  tx: Writer,
  { cartStore, clock }: Pick<CartDeps, 'cartStore' | 'clock'>,
  id: string,
  person: Pick<Cart, 'email' | 'shippingAddress' | 'billingAddress'>,
): Promise<boolean> => {
  const now = clock.now()
  const fields = { ...pick(person, 'email', 'shippingAddress', 'billingAddress'), expiresAt: now + cartLifeMs }
  return cartStore.reopen(tx, id, fields, now)
}

/**
 * Puts the code of the partner who sent the shopper last onto a cart, inside a write.
 * @throws AppError NOT_FOUND for a cart out of reach, CONFLICT for one that is not open
 */
export async function referCart(
  tx: Writer,
  { cartStore, clock }: Pick<CartDeps, 'cartStore' | 'clock'>,
  { caller: { shop, principal }, cartId, code }: { caller: CartCaller; cartId: string; code: string },
): Promise<void> {
  const now = clock.now()
  const reach = cartAccessOf(principal)
  if (await cartStore.refer(tx, { id: cartId, shopId: shop.id, reach, code, now, expiresAt: now + cartLifeMs })) return
  const cart = await cartStore.find(cartId, tx)
  throw cart && cart.shopId === shop.id && canAccessCart(reach, cart) ? notOpen() : noSuchCart()
}

/** Ends the carts whose time is over, in small writes, and forgets whose they were to be sent to. */
export async function expireCarts({ db, clock, cartStore }: Pick<CartDeps, 'db' | 'clock' | 'cartStore'>): Promise<void> {
  const now = clock.now()
  await inBatches(cartsAtOnce, () => db.write((tx) => cartStore.expire(tx, now, cartsAtOnce)))
}

/** Forgets carts that were over long ago: their orders know all that is still wanted. In small writes. */
export async function forgetCarts({ db, clock, cartStore }: Pick<CartDeps, 'db' | 'clock' | 'cartStore'>): Promise<void> {
  const before = clock.now() - overKeptMs
  await inBatches(cartsAtOnce, () => db.write((tx) => cartStore.removeOver(tx, before, cartsAtOnce)))
}
