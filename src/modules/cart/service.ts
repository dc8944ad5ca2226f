import type { Writer } from '../../../db/engine.ts'
import { AppError } from '../../core/errors.ts'
import type { Principal, ShopContext } from '../../core/principal.ts'
import { dayMs } from '../../lib/day.ts'
import type { Money } from '../../lib/money.ts'
import { untilFewer } from '../../lib/pieces.ts'
import { availableCount, isSellable, labelOf, type Sellable, shortageOf } from '../catalog/domain.ts'
import { type CatalogDeps, sellables } from '../catalog/service.ts'
import type { CustomerDeps } from '../customer/service.ts'
import { type Draw, drawsOf, fitsCart, type GiftCard, isUsable } from '../gift-card/domain.ts'
import { type GiftCardDeps, giftCardsByIds } from '../gift-card/service.ts'
import type { ShopDeps } from '../shop/service.ts'
import type { Shop } from '../shop/store.ts'
import {
  type Cart,
  type CartLine,
  cartLifeMs,
  changeAt,
  isOffered,
  isWithin,
  type Reach,
  statusAt,
  type TaxedLine,
  type Totals,
  taxPlaceOf,
  taxRateAt,
  totalsOf,
} from './domain.ts'
import type { CartStore } from './store.ts'

export type CartDeps = CatalogDeps & CustomerDeps & GiftCardDeps & { readonly cartStore: CartStore }
/** Who asks for a cart, in which shop. */
export type CartCaller = { readonly shop: Pick<ShopContext, 'id'>; readonly principal: Principal }

/** A line with what it is of; a variant that is gone has neither. */
export type CartItem = { line: CartLine; sellable: Sellable | undefined }
/** All that a cart's price depends on. */
export type CartContents = { cart: Cart; shop: Shop; items: CartItem[]; giftCards: GiftCard[] }
export type PricedLine = CartLine & TaxedLine
export type PricedShipping = { code: string; title: string; price: Money }
/** `lines` are in the order of the contents' items. */
export type Priced = { lines: PricedLine[]; shipping: PricedShipping | null; totals: Totals; draws: Draw[] }

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
export function reachOf(principal: Principal): Reach {
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
export async function cartOf(deps: CartDeps, { shop, principal }: CartCaller, cartId: string): Promise<Cart> {
  const cart = await deps.cartStore.find(cartId)
  if (!cart || cart.shopId !== shop.id || !isWithin(reachOf(principal), cart)) throw noSuchCart()
  return { ...cart, status: statusAt(cart, deps.clock.now()) }
}

/** What a cart holds and what its price depends on, as it is stored now. */
export const contentsOf = async (deps: CartDeps, cart: Cart): Promise<CartContents> =>
  contentsIn(deps, cart, await shopOf(deps, cart.shopId))

/** The same where the shop is at hand. */
export async function contentsIn(deps: CartDeps, cart: Cart, shop: Shop): Promise<CartContents> {
  const lines = await deps.cartStore.linesOf(cart.id)
  const variantIds = lines.map(({ variantId }) => variantId)
  const found = await sellables(deps, variantIds, cart.shopId)
  return {
    cart,
    shop,
    items: lines.map((line) => ({ line, sellable: found.get(line.variantId) })),
    giftCards: await giftCardsByIds(deps, await deps.cartStore.giftCardsOf(cart.id)),
  }
}

/** The shop of a cart. */
export async function shopOf({ shopStore }: Pick<ShopDeps, 'shopStore'>, id: string): Promise<Shop> {
  const shop = await shopStore.find(id)
  if (!shop) throw new Error('a cart has no shop')
  return shop
}

/** What a cart comes to at the prices of now; what is not sold any more counts at the price it was put in for. */
export const priced = (contents: CartContents, now: number): Priced => pricedBy(contents, now, (item) => priceNow(item, contents.cart, now))

/** The same at the prices that the shopper has seen. */
const pricedAsSeen = (contents: CartContents, now: number): Priced => pricedBy(contents, now, ({ line }) => line.unitPrice)

function pricedBy({ cart, shop, items, giftCards }: CartContents, now: number, priceOf: (item: CartItem) => number): Priced {
  const purchase = items.map((item) => ({
    unitPrice: priceOf(item),
    quantity: item.line.quantity,
    taxable: item.sellable?.variant.taxable ?? true,
  }))
  const shipping = shippingOf(cart, shop)
  const usable = giftCards.filter((card) => fitsCart(card, { currency: cart.currency, customerId: cart.customerId ?? undefined }))
  const rate = taxRateAt(shop.taxRates, taxPlaceOf(cart, shop.country))
  const { lines, totals, draws } = totalsOf({ lines: purchase, rate, shipping: shipping?.price.amount ?? 0 }, (amount) =>
    drawsOf(usable, amount, now),
  )
  return {
    lines: lines.map((taxed, at) => ({ ...(items[at] as CartItem).line, unitPrice: purchase[at]?.unitPrice ?? 0, ...taxed })),
    shipping,
    totals,
    draws,
  }
}

/** The way that was chosen, while the shop offers it for this cart. */
function shippingOf(cart: Cart, { shippingMethods }: Shop): PricedShipping | null {
  const method = shippingMethods.find(({ code }) => code === cart.shippingMethod)
  if (!method || !isOffered(method, cart.currency, cart.shippingAddress?.countryCode)) return null
  return { code: method.code, title: method.title, price: method.price }
}

/** Whether a line is of something that the cart may hold, however much of it is left. */
export const isStillSold = (item: CartItem, cart: Cart, now: number): item is CartItem & { sellable: Sellable } =>
  item.sellable !== undefined && isSellable(item.sellable.product, now) && item.sellable.product.currency === cart.currency

const priceNow = (item: CartItem, cart: Cart, now: number): number =>
  isStillSold(item, cart, now) ? item.sellable.variant.price : item.line.unitPrice

/** What is not as the shopper has seen it any more, a sentence each; empty when the cart can be bought as it is. */
export function changedSince(contents: CartContents, now: number): string[] {
  const { cart, shop, items } = contents
  const ofLines = items.flatMap((item) => {
    if (!isStillSold(item, cart, now)) return [`${item.sellable ? labelOf(item.sellable) : 'A product of the cart'} is not sold any more`]
    const { line, sellable } = item
    const dearer = sellable.variant.price === line.unitPrice ? [] : [`The price of ${labelOf(sellable)} has changed`]
    return availableCount(sellable.variant) < line.quantity ? [...dearer, shortageOf(sellable)] : dearer
  })
  const lostMethod = cart.shippingMethod !== null && shippingOf(cart, shop) === null
  const changes = [
    ...ofLines,
    ...(lostMethod ? ['The shipping method is not offered any more'] : []),
    ...spentCards(contents, now).map(({ last4 }) => `The gift card that ends in ${last4} can no longer be used`),
  ]
  return changes.length > 0 ? changes : changedTotals(contents, now)
}

/** Taxes, shipping and gift cards may come to something else although everything in the cart is as it was. */
function changedTotals(contents: CartContents, now: number): string[] {
  const { total, amountDue } = priced(contents, now).totals
  if (total !== contents.cart.shownTotal) return ['Taxes or shipping have changed, and with them the total']
  return amountDue === contents.cart.shownDue ? [] : ['The gift cards pay another part of the total']
}

/** The cart's gift cards that pay nothing any more. */
const spentCards = ({ cart, giftCards }: CartContents, now: number): GiftCard[] =>
  giftCards.filter((card) => !isUsable(card, now) || !fitsCart(card, { currency: cart.currency, customerId: cart.customerId ?? undefined }))

/**
 * Takes over the prices of now, and takes off what cannot be had any more (shipping method, gift cards), so that the shopper sees
 * it. A cart that somebody changes at the same time is left alone.
 */
export async function refreshPrices(deps: CartDeps, cartId: string): Promise<void> {
  const now = deps.clock.now()
  const cart = await deps.cartStore.find(cartId)
  if (!cart || statusAt(cart, now) !== 'OPEN') return
  const contents = await contentsOf(deps, cart)
  const after = { ...cart, shippingMethod: shippingOf(cart, contents.shop)?.code ?? null, updatedAt: changeAt(cart, now) }
  const spent = spentCards(contents, now).map(({ id }) => id)
  const { total, amountDue } = priced({ ...contents, cart: after }, now).totals
  await deps.db.write(async (tx) => {
    if (!(await deps.cartStore.save(tx, { ...after, shownTotal: total, shownDue: amountDue }, cart.updatedAt))) return
    for (const item of contents.items) {
      const unitPrice = priceNow(item, cart, now)
      if (unitPrice !== item.line.unitPrice) await deps.cartStore.changeLine(tx, { ...item.line, unitPrice })
    }
    if (spent.length > 0) await deps.cartStore.removeGiftCards(tx, cartId, spent)
  })
}

/**
 * Makes an open cart that of an order, inside the order's write, and forgets its e-mail address and addresses.
 * @param updatedAt of the cart as it was read: what was changed since is not what the order is made of
 * @returns false when the cart is not open any more, or was changed
 */
export const convertCart = (
  { cartStore }: Pick<CartDeps, 'cartStore'>,
  tx: Writer,
  { cartId, now, updatedAt }: { cartId: string; now: number; updatedAt: number },
): Promise<boolean> => cartStore.convert(tx, { id: cartId, now, updatedAt })

/** A cart as the API answers it. */
export async function wholeCart(deps: CartDeps, cart: Cart, { isShopper = true } = {}): Promise<CartView> {
  const view = cartView(await contentsOf(deps, cart), deps.clock.now())
  const shown = shownBy(view)
  const isNew = shown.shownTotal !== cart.shownTotal || shown.shownDue !== cart.shownDue
  // Taxes, shipping or a gift card's balance have changed, and now the shopper knows. Where that cannot be noted, the checkout tells.
  if (isShopper && cart.status === 'OPEN' && isNew)
    await deps.db
      .write((tx) => deps.cartStore.noteShown(tx, { ...cart, ...shown }))
      .catch((error: unknown) => deps.log.warn('cart.shown_not_noted', { error }))
  return view
}

/** What an answer shows of a cart's price. */
export const shownBy = ({ totals: { total, amountDue } }: CartView): Pick<Cart, 'shownTotal' | 'shownDue'> => ({
  shownTotal: total.amount,
  shownDue: amountDue.amount,
})

/** The same of contents that are at hand. */
export function cartView(contents: CartContents, now: number) {
  const { cart, items, giftCards } = contents
  const { currency } = cart
  const { lines, shipping, totals, draws } = pricedAsSeen(contents, now)
  const money = (amount: number): Money => ({ amount, currency })
  const status = statusAt(cart, now)
  const isOpen = status === 'OPEN'
  return {
    id: cart.id,
    shopId: cart.shopId,
    customerId: cart.customerId,
    currency,
    lines: items.map((item, at) => lineView(item, lines[at]?.total ?? 0, cart, now)),
    giftCards: giftCards.map(({ id, last4 }) => ({
      id,
      last4,
      amount: money(draws.find(({ giftCardId }) => giftCardId === id)?.amount ?? 0),
    })),
    // Of a cart that is over, nothing is shown of the person.
    email: isOpen ? cart.email : null,
    shippingAddress: isOpen ? cart.shippingAddress : null,
    billingAddress: isOpen ? cart.billingAddress : null,
    shippingMethod: shipping?.code ?? null,
    affiliateCode: cart.affiliateCode,
    totals: {
      subtotal: money(totals.subtotal),
      discount: money(totals.discount),
      shipping: money(totals.shipping),
      tax: money(totals.tax),
      taxIncluded: money(totals.taxIncluded),
      giftCards: money(totals.giftCards),
      total: money(totals.total),
      amountDue: money(totals.amountDue),
    },
    status,
    expiresAt: new Date(cart.expiresAt).toISOString(),
    createdAt: new Date(cart.createdAt).toISOString(),
    updatedAt: new Date(cart.updatedAt).toISOString(),
  }
}
export type CartView = ReturnType<typeof cartView>

function lineView(item: CartItem, total: number, cart: Cart, now: number) {
  const { line, sellable } = item
  const images = sellable?.product.images ?? []
  const image = images.find(({ id }) => id === sellable?.variant.imageId) ?? images[0]
  return {
    id: line.id,
    variantId: line.variantId,
    productId: sellable?.product.id ?? null,
    title: sellable?.product.title ?? null,
    variantTitle: sellable?.variant.title ?? null,
    sku: sellable?.variant.sku ?? null,
    imageUrl: image?.url ?? null,
    quantity: line.quantity,
    unitPrice: { amount: line.unitPrice, currency: cart.currency },
    total: { amount: total, currency: cart.currency },
    available: isStillSold(item, cart, now) && availableCount(item.sellable.variant) >= line.quantity,
  }
}

/**
 * Prepares the code of the partner who sent the shopper last: call what it returns inside a write. It throws NOT_FOUND for a
 * cart out of reach, CONFLICT for one that is not open.
 */
export function prepareAffiliateCode(
  deps: CartDeps,
  { shop, principal }: CartCaller,
  { cartId, code }: { cartId: string; code: string },
): (tx: Writer) => Promise<void> {
  const now = deps.clock.now()
  const reach = reachOf(principal)
  const referral = { id: cartId, shopId: shop.id, reach, code, now, expiresAt: now + cartLifeMs }
  return async (tx) => {
    if (await deps.cartStore.refer(tx, referral)) return
    const cart = await deps.cartStore.find(cartId, tx)
    throw cart && cart.shopId === shop.id && isWithin(reach, cart) ? notOpen() : noSuchCart()
  }
}

/** Ends the carts whose time is over, in small writes, and forgets whose they were to be sent to. */
export async function expireCarts({ db, clock, cartStore }: Pick<CartDeps, 'db' | 'clock' | 'cartStore'>): Promise<void> {
  const now = clock.now()
  await untilFewer(cartsAtOnce, () => db.write((tx) => cartStore.expire(tx, now, cartsAtOnce)))
}

/** Forgets carts that were over long ago: their orders know all that is still wanted. In small writes. */
export async function forgetCarts({ db, clock, cartStore }: Pick<CartDeps, 'db' | 'clock' | 'cartStore'>): Promise<void> {
  const before = clock.now() - overKeptMs
  await untilFewer(cartsAtOnce, () => db.write((tx) => cartStore.removeOver(tx, before, cartsAtOnce)))
}
