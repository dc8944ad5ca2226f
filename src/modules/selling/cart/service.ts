import type { Writer } from '../../../../db/engine.ts'
import { locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { Principal, ShopContext } from '../../../core/principal.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { pick } from '../../../lib/objects.ts'
import type { Sellable } from '../../catalog/products/domain.ts'
import { findSellables, findSellablesInCart } from '../../catalog/products/index.ts'
import { loadProvinceTable, noProvinces, type Provinces } from '../../shop/countries/domain.ts'
import { needsProvinces } from '../../shop/shipping/domain.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import { readShop, shopOf } from '../../shop/shop/index.ts'
import { noOffers, type Offer } from '../discount/domain.ts'
import { offersOfCart, offersWith } from '../discount/index.ts'
import { giftCardsByIds } from '../gift-card/index.ts'
import {
  type Cart,
  type CartAccess,
  canAccessCart,
  cartLifeMs,
  nextUpdatedAt,
  type Sale,
  soldCartOf,
  statusAt,
  unseenDue,
} from './domain.ts'
import { type CartSnapshot, currentPriceOf, listSpentCards, priced, unusableCodeReason } from './pricing.ts'
import type { CartDeps } from './providers.ts'
import type { CartContents } from './store.ts'
import { type CartView, cartView, shownBy, shownDiscountsText, soldView } from './view.ts'

/** The caller of a cart's route, and its shop. */
export type CartCaller = {
  readonly shop: Pick<ShopContext, 'id'>
  readonly principal: Principal
  /** The caller has the link of its draft, and may pay any customer's. */
  readonly hasLink?: true
}

/** Of one write. */
const cartBatch = 200
/** How long a converted or expired cart is kept after its last change. */
const endedCartRetentionMs = 90 * dayMs

/** Creates the error for a missing cart. It is the same for another customer's, so that it reveals nothing. */
export const noSuchCart = () => new AppError('NOT_FOUND', 'No such cart')
/** Creates the error for a change to a cart that was checked out or has expired. */
export const notOpen = ({ status }: Pick<Cart, 'status'>) =>
  new AppError('CONFLICT', status === 'CONVERTED' ? 'The cart was already ordered' : 'The cart has expired. Create a new cart', {
    code: 'cart_closed',
  })

/**
 * Returns the carts that a caller may access: a publishable key those of guests, a customer also their own, staff and
 * the secret key all.
 */
function cartAccessOf(principal: Principal): CartAccess {
  if (principal.kind === 'customer') return { customerId: principal.id }
  const isShop = principal.kind === 'merchant' || isServer(principal)
  return isShop ? 'all' : 'guests'
}

/** Returns whether the caller has a shop's secret key. */
export const isServer = (principal: Principal): boolean => principal.kind === 'key' && principal.scopes.includes('server')

/**
 * Reads a cart; one whose time is over is EXPIRED.
 * @throws AppError NOT_FOUND, also for a cart that the caller may not access
 */
export const cartOf = async (deps: CartDeps, caller: CartCaller, cartId: string): Promise<Cart> =>
  assertAccess(deps, caller, await deps.cartStore.find(cartId))

function assertAccess({ clock }: CartDeps, { shop, principal, hasLink }: CartCaller, cart: Cart | undefined): Cart {
  if (!cart || cart.shopId !== shop.id || !canAccessCart(hasLink ? 'all' : cartAccessOf(principal), cart)) throw noSuchCart()
  return { ...cart, status: statusAt(cart, clock.now()) }
}

/** Reads a cart as it is stored, without a check of access. */
export const findCart = ({ cartStore }: Pick<CartDeps, 'cartStore'>, id: string): Promise<Cart | undefined> => cartStore.find(id)

/** Reads a cart's contents and all that its price depends on. */
export async function snapshotOf(deps: CartDeps, cart: Cart): Promise<CartSnapshot> {
  const { id, shopId } = cart
  const { cartStore, db } = deps
  const parts = db.read.inSnapshot(
    () =>
      [readShop(deps, shopId), cartStore.contentsOf(id), findSellablesInCart(deps, id, shopId), offersOfCart(deps, shopId, id)] as const,
  )
  const [shop, contents, found, offered] = await Promise.all(parts)
  return withOffers(deps, await buildSnapshot(deps, { cart, shop, contents, found, offered }))
}

/** A cart and its contents. */
export type LoadedCart = { readonly cart: Cart; readonly snapshot: CartSnapshot }
/** `extraVariant`: the requested variant, if the shop has it. */
type LoadedToChange = LoadedCart & { readonly extraVariant: Sellable | undefined }

type LoadOptions = {
  /** A variant that may not be in the cart. */
  readonly extraVariantId?: string | undefined
  /** Whether the shop as read at the start of the request is recent enough. */
  readonly acceptsCachedShop?: boolean
  /** The caller reads the discounts' dependencies later, by `withOffers`. */
  readonly isToChange?: boolean
}

/**
 * Reads a cart and its contents as of one moment: separate reads could straddle a change.
 * @throws AppError NOT_FOUND as `cartOf`
 */
export async function loadCart(
  deps: CartDeps,
  caller: CartCaller,
  cartId: string,
  { extraVariantId, acceptsCachedShop = false, isToChange = false }: LoadOptions = {},
): Promise<LoadedToChange> {
  const { cartStore, db } = deps
  const { id: shopId } = caller.shop
  const parts = db.read.inSnapshot(
    () =>
      [
        cartStore.find(cartId),
        acceptsCachedShop ? shopOf(deps, caller.shop) : readShop(deps, shopId),
        cartStore.contentsOf(cartId),
        findSellablesInCart(deps, cartId, shopId),
        findSellables(deps, extraVariantId === undefined ? [] : [extraVariantId], shopId),
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
 * Reads an open cart and its contents as of one moment.
 * @throws AppError NOT_FOUND as `cartOf`; CONFLICT for a cart that is not open
 */
export async function openCart(deps: CartDeps, caller: CartCaller, cartId: string, options: LoadOptions = {}): Promise<LoadedToChange> {
  const found = await loadCart(deps, caller, cartId, options)
  if (found.cart.status !== 'OPEN') throw notOpen(found.cart)
  return found
}

type CartParts = { cart: Cart; shop: Shop; contents: CartContents; found: ReadonlyMap<string, Sellable>; offered: readonly Offer[] }

async function buildSnapshot(deps: CartDeps, { cart, shop, contents, found, offered }: CartParts): Promise<CartSnapshot> {
  const { lines, giftCardIds } = contents
  const [giftCards, provinces] = await Promise.all([giftCardsByIds(deps, giftCardIds), provincesFor(shop)])
  const items = lines.map((line) => ({ line, sellable: found.get(line.variantId) }))
  return { cart, shop, items, giftCards, provinces, offers: { ...noOffers, all: offered } }
}

/** Adds what the discounts depend on. Called once the cart's contents and customer are known. */
export async function withOffers(deps: CartDeps, snapshot: CartSnapshot): Promise<CartSnapshot> {
  const { cart: shopper, shop, items, offers } = snapshot
  if (offers.all.length === 0) return snapshot
  // A change may have taken off the code. A draft gets no automatic discounts: its shop fixed the price.
  const all = offers.all.filter(({ codeKey }) => (codeKey === null ? shopper.draft === null : codeKey === shopper.discountCode))
  const productIds = items.flatMap(({ sellable }) => (sellable ? [sellable.product.id] : []))
  return { ...snapshot, offers: await offersWith(deps, all, { shopper, mode: shop.mode, productIds }) }
}

/** Loads the provinces that a shop's tax rates and zones need; none if it has no such rates. */
export const provincesFor = async ({ taxRates, shippingMethods }: Pick<Shop, 'taxRates' | 'shippingMethods'>): Promise<Provinces> =>
  taxRates.some(({ region }) => region) || needsProvinces(shippingMethods) ? loadProvinceTable() : noProvinces

/**
 * Stores the current prices and removes what cannot be used any more (shipping method, gift cards, discount code), so
 * that the shopper sees it. A cart that changes meanwhile is left alone.
 * @param storeMessage stores the message to the shopper in the same write
 * @param isToPerson whether a person is told; otherwise the cart cannot be paid before a person has read it
 */
export async function refreshPrices(
  deps: CartDeps,
  cartId: string,
  storeMessage: (tx: Writer) => Promise<void> = async () => undefined,
  isToPerson = true,
): Promise<void> {
  const now = deps.clock.now()
  const cart = await deps.cartStore.find(cartId)
  if (!cart || statusAt(cart, now) !== 'OPEN') return
  const snapshot = await snapshotOf(deps, cart)
  const offered = priced(snapshot, now).shipping?.code ?? null
  const after = {
    ...cart,
    // Fields that the shop settled stay: nobody pays more than it said.
    shippingMethod: cart.draft?.settled.includes('shippingMethod') ? cart.shippingMethod : offered,
    discountCode: cart.draft !== null || unusableCodeReason(snapshot, now) === undefined ? cart.discountCode : null,
    updatedAt: nextUpdatedAt(cart, now),
  }
  const spent = listSpentCards(snapshot, now).map(({ id }) => id)
  const { totals, discounts } = priced({ ...snapshot, cart: after }, now)
  const shownFields = {
    shownTotal: totals.total,
    shownDue: isToPerson ? totals.amountDue : unseenDue,
    shownDiscounts: shownDiscountsText(discounts.map(({ offer }) => offer)),
  }
  await deps.db.write(async (tx) => {
    if (!(await deps.cartStore.save(tx, { ...after, ...shownFields }, cart))) return
    for (const item of snapshot.items) {
      const unitPrice = currentPriceOf(item, cart, now)
      if (unitPrice !== item.line.unitPrice) await deps.cartStore.changeLine(tx, { ...item.line, unitPrice })
    }
    if (spent.length > 0) await deps.cartStore.removeGiftCards(tx, cartId, spent)
    await storeMessage(tx)
  }, locking)
}

/**
 * Reads a cart as the API shows it; a converted one shows its order's amounts. The price shown of an open cart is
 * stored, so that the checkout can compare.
 * @throws AppError NOT_FOUND, also for a cart that the caller may not access
 */
export async function readCart(deps: CartDeps, caller: CartCaller, cartId: string): Promise<CartView> {
  const { cart, view, order } = await viewCart(deps, caller, cartId)
  // The shopper has now seen a changed total. If storing it fails, the checkout reports the change.
  const shown = shownBy(view)
  const isNew = shown.shownTotal !== cart.shownTotal || shown.shownDue !== cart.shownDue || shown.shownDiscounts !== cart.shownDiscounts
  if (!order && !isServer(caller.principal) && cart.status === 'OPEN' && isNew)
    await deps.db
      .write((tx) => deps.cartStore.noteShown(tx, { ...cart, ...shown }), locking)
      .catch((error: unknown) => deps.log.warn('cart.shown_not_noted', { error }))
  return view
}

/**
 * Reads a cart without storing what it shows.
 * @returns also the last order of a converted cart
 * @throws AppError NOT_FOUND, also for a cart that the caller may not access
 */
export async function viewCart(deps: CartDeps, caller: CartCaller, cartId: string) {
  const { cart, snapshot } = await loadCart(deps, caller, cartId)
  const sold = cart.status === 'CONVERTED' ? await deps.cartStore.soldFor(cart.id) : undefined
  const now = deps.clock.now()
  return { cart, snapshot, view: sold ? soldView(snapshot, sold, now) : cartView(snapshot, now), order: sold?.order }
}

/** Returns what `viewCart` does for a cart that was just bought as it was read. */
export function viewSoldCart({ clock }: Pick<CartDeps, 'clock'>, { cart, snapshot }: LoadedCart, sale: Sale) {
  const converted = { ...cart, status: 'CONVERTED' } as const
  const after = { ...snapshot, cart: converted }
  return { cart: converted, snapshot: after, view: soldView(after, soldCartOf(sale), clock.now()), order: sale.order }
}

/**
 * Converts an open cart inside its order's write, and removes its personal data. Does not wait for the result: the
 * write throws NothingChanged unless `isConvertible`.
 * @param cart as it was read
 */
export const convertCart = (
  tx: Writer,
  { cartStore, clock }: Pick<CartDeps, 'cartStore' | 'clock'>,
  { id, updatedAt }: Pick<Cart, 'id' | 'updatedAt'>,
): Promise<void> => cartStore.convert(tx, { id, now: clock.now(), updatedAt })

/** Returns whether a cart is open and still as it was read. */
export async function isConvertible(
  { cartStore, clock }: Pick<CartDeps, 'cartStore' | 'clock'>,
  { id, updatedAt }: Pick<Cart, 'id' | 'updatedAt'>,
): Promise<boolean> {
  const cart = await cartStore.find(id)
  return cart?.status === 'OPEN' && cart.updatedAt === updatedAt && cart.expiresAt > clock.now()
}

/**
 * Locks a cart, so that nobody buys it during the write.
 * @returns it; undefined when it is gone
 */
export const lockCart = (tx: Writer, { cartStore }: Pick<CartDeps, 'cartStore'>, id: string): Promise<Cart | undefined> =>
  cartStore.lock(tx, id)

/**
 * Reopens the cart of an order that ended without a sale, inside a write, with its personal data.
 * @returns false when the cart is not converted
 */
export const reopenCart = (
  tx: Writer,
  { cartStore, clock }: Pick<CartDeps, 'cartStore' | 'clock'>,
  id: string,
  person: Pick<Cart, 'email' | 'shippingAddress' | 'billingAddress' | 'giftCardRecipient'>,
): Promise<boolean> => {
  const now = clock.now()
  const fields = { ...pick(person, 'email', 'shippingAddress', 'billingAddress', 'giftCardRecipient'), expiresAt: now + cartLifeMs }
  return cartStore.reopen(tx, id, fields, now)
}

/**
 * Puts an affiliate's code on a cart, inside a write.
 * @throws AppError NOT_FOUND for an inaccessible cart; CONFLICT for one that is not open
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
  throw cart && cart.shopId === shop.id && canAccessCart(reach, cart) ? notOpen(cart) : noSuchCart()
}

/** Expires carts whose time is over, and removes their personal data, in small writes. */
export async function expireCarts({ db, clock, cartStore }: Pick<CartDeps, 'db' | 'clock' | 'cartStore'>): Promise<void> {
  const now = clock.now()
  await inBatches(cartBatch, () => db.write((tx) => cartStore.expire(tx, now, cartBatch)))
}

/** Deletes carts that were over long ago, in small writes. Their orders hold what is still needed. */
export async function forgetCarts({ db, clock, cartStore }: Pick<CartDeps, 'db' | 'clock' | 'cartStore'>): Promise<void> {
  const before = clock.now() - endedCartRetentionMs
  await inBatches(cartBatch, () => db.write((tx) => cartStore.removeOver(tx, before, cartBatch)))
}
