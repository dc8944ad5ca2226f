/** Prices carts. Pure functions of the cart, its shop and the time. */
import type { TaxRate } from '../../../../db/schema/shop.ts'
import { isGiftCard } from '../../catalog/product-kind/domain.ts'
import { availableCount, isSellable, labelOf, type Sellable, shortageMessage } from '../../catalog/products/domain.ts'
import type { Provinces } from '../../shop/countries/domain.ts'
import { offerOf, offersOf, parcelOf, type ShippingOffer, type ShippingQuery } from '../../shop/shipping/domain.ts'
import type { Shop } from '../../shop/shop/domain.ts'
import {
  type AppliedDiscount,
  bestReduction,
  type DiscountInput,
  discountNameOf,
  freeShipping,
  notAppliedReasonOf,
  type Offer,
  type Offers,
  unavailableReasonIn,
  unavailableTexts,
} from '../discount/domain.ts'
import { type Draw, drawsOf, fitsCart, type GiftCard, isUsable } from '../gift-card/domain.ts'
import {
  type Cart,
  type CartLine,
  lineTotalOf,
  type Notice,
  type NoticeFacts,
  noticesOf,
  shippingTaxRateAt,
  sumOf,
  type TaxedLine,
  type Totals,
  taxPlaceOf,
  taxRateAt,
  totalsOf,
  unseenDue,
} from './domain.ts'

/** A line and its variant; undefined if the variant is gone. */
export type CartItem = { line: CartLine; sellable: Sellable | undefined }
/** All that a cart's price depends on. `provinces` is empty if no rate or zone of the shop needs them. */
export type CartSnapshot = { cart: Cart; shop: Shop; items: CartItem[]; giftCards: GiftCard[]; provinces: Provinces; offers: Offers }
type PricedLine = CartLine & TaxedLine
/**
 * `lines` in the order of the snapshot's items. `shipping`: the chosen method while it is offered. `shippingRate`: its
 * tax rate. `discounts`: those that apply. `discountInput`: what they were computed from.
 */
export type Priced = {
  lines: PricedLine[]
  shipping: ShippingOffer | null
  shippingRate: TaxRate | undefined
  totals: Totals
  draws: Draw[]
  discounts: AppliedDiscount[]
  discountInput: DiscountInput
}

/** Prices a cart now. A product that is no longer sold keeps its stored price. */
export const priced = (snapshot: CartSnapshot, now: number): Priced =>
  pricedBy(snapshot, now, (item) => currentPriceOf(item, snapshot.cart, now))

/** Prices a cart at the prices that the shopper saw. */
export const pricedAsSeen = (snapshot: CartSnapshot, now: number): Priced => pricedBy(snapshot, now, ({ line }) => line.unitPrice)

function pricedBy(snapshot: CartSnapshot, now: number, priceOf: (item: CartItem) => number): Priced {
  const { cart, shop, items, giftCards, provinces, offers } = snapshot
  const location = taxPlaceOf(cart, shop.country)
  const purchase = items.map((item) => ({
    unitPrice: priceOf(item),
    quantity: item.line.quantity,
    rate: isTaxed(item) ? taxRateAt(shop.taxRates, location, provinces, taxClassOf(item)) : undefined,
  }))
  const discountInput = discountInputOf(snapshot, purchase.map(lineTotalOf), now)
  const reduction = bestReduction(offers, discountInput)
  const reduced = reduction ? purchase.map((line, at) => ({ ...line, discount: reduction.lineAmounts[at] ?? 0 })) : purchase
  const usable = giftCards.filter((card) => fitsCart(card, { currency: cart.currency, customerId: cart.customerId ?? undefined }))
  const shippingFor = (amount: number) => {
    const chosen = chosenMethod(snapshot, amount)
    // An empty cart keeps its method at no cost until it holds something.
    const shipping = chosen && items.length === 0 ? { ...chosen, price: { ...chosen.price, amount: 0 } } : chosen
    return { shipping, free: freeShipping(offers, discountInput, shipping?.price.amount ?? 0) }
  }
  const shippingOf = (amount: number) => {
    const { shipping, free } = shippingFor(amount)
    return free ? 0 : (shipping?.price.amount ?? 0)
  }
  const shippingRate = shippingTaxRateAt(shop.taxRates, location, provinces)
  // Gift cards pay for everything but gift cards, which could otherwise outlive an expiry or a disabled card.
  const cardTotal = sumOf(purchase.filter((_, at) => items[at] && isCardItem(items[at])).map(lineTotalOf))
  const { lines, totals, draws } = totalsOf({ lines: reduced, shippingOf, shippingRate }, (amount) =>
    drawsOf(usable, amount - cardTotal, now),
  )
  const { shipping, free } = shippingFor(totals.subtotal - totals.discount)
  return {
    lines: lines.map((taxed, at) => ({ ...(items[at] as CartItem).line, unitPrice: purchase[at]?.unitPrice ?? 0, ...taxed })),
    shipping: shipping ?? null,
    shippingRate,
    totals,
    draws,
    discounts: [reduction, free].filter((one) => one !== undefined),
    discountInput,
  }
}

/** @param totals of the lines; their sum can be stored */
function discountInputOf({ cart: { currency }, items }: CartSnapshot, totals: readonly number[], now: number): DiscountInput {
  sumOf(totals)
  const lines = items.map((item, at) => ({
    total: totals[at] ?? 0,
    productId: item.sellable?.product.id,
    ...(isCardItem(item) ? { isGiftCard: true } : {}),
  }))
  return { lines, currency, now }
}

/** Returns the discount of the cart's code, whether it applies or not; undefined without one. */
export const codedOffer = ({ cart: { discountCode }, offers }: Pick<CartSnapshot, 'cart' | 'offers'>): Offer | undefined =>
  discountCode === null ? undefined : offers.all.find(({ codeKey }) => codeKey === discountCode)

/** Returns the notice why the cart's discount code takes nothing off. */
export function discountNotices(
  snapshot: CartSnapshot,
  { discounts, discountInput }: Pick<Priced, 'discounts' | 'discountInput'>,
): Notice[] {
  const { discountCode } = snapshot.cart
  if (discountCode === null) return []
  const offer = codedOffer(snapshot)
  const message = offer
    ? notAppliedReasonOf(snapshot.offers, offer, discountInput, discounts)
    : `The discount code ${discountCode} is no longer available`
  return message === undefined ? [] : [{ code: 'DISCOUNT_NOT_COUNTED', message }]
}

/** Returns a sentence why the cart's code cannot be used at all; undefined if it can, or there is none. */
export function unusableCodeReason(snapshot: CartSnapshot, now: number): string | undefined {
  const { discountCode } = snapshot.cart
  if (discountCode === null) return undefined
  const offer = codedOffer(snapshot)
  const why = offer ? unavailableReasonIn(snapshot.offers, offer, now) : 'DISABLED'
  return why && `${offer ? discountNameOf(offer) : `The discount code ${discountCode}`} ${unavailableTexts[why]}`
}

/** Lists discounts that the shopper saw and that cannot be used any more, one sentence each. */
function lostDiscounts({ cart, offers }: CartSnapshot, now: number): string[] {
  const shownIds = cart.shownDiscounts === '' ? [] : cart.shownDiscounts.split(',')
  return shownIds.flatMap((id) => {
    const offer = offers.all.find((one) => one.id === id)
    if (!offer) return ['A discount of the cart is no longer available']
    const why = unavailableReasonIn(offers, offer, now)
    return why === undefined ? [] : [`${discountNameOf(offer)} ${unavailableTexts[why]}`]
  })
}

/** Returns whether each unit of an item issues a gift card. */
export const isCardItem = ({ sellable }: CartItem): boolean => sellable !== undefined && isGiftCard(sellable.product)

/** Returns whether an item is taxed. An item whose variant is gone counts as taxed: it cannot be bought. */
export const isTaxed = ({ sellable }: CartItem) => sellable?.variant.taxable ?? true
/** Returns the tax class of an item; null: the standard rates. */
export const taxClassOf = ({ sellable }: CartItem) => sellable?.variant.taxClass ?? null

/** Returns what the items ship. */
export function parcelIn(items: readonly CartItem[]) {
  const lines = items.map(({ line: { quantity }, sellable }) => {
    const { weightGrams = 0, requiresShipping = true } = sellable?.variant ?? {}
    return { quantity, weightGrams, requiresShipping }
  })
  return parcelOf(lines)
}

/** Returns whether a cart ships something. An empty cart may: goods can still be added. */
export const needsShipping = ({ items }: Pick<CartSnapshot, 'items'>): boolean => parcelIn(items).isNeeded

/** @param amount the subtotal after discounts */
const shippingQueryOf = ({ cart: { currency, shippingAddress }, items }: CartSnapshot, amount: number): ShippingQuery => ({
  ...parcelIn(items),
  currency,
  amount,
  to: shippingAddress ?? undefined,
})

/** The chosen shipping method, if the shop offers it for this cart. */
function chosenMethod(snapshot: CartSnapshot, amount: number): ShippingOffer | undefined {
  const { cart, shop, provinces } = snapshot
  const method = shop.shippingMethods.find(({ code }) => code === cart.shippingMethod)
  return method && offerOf(method, shop.shippingMethods, shippingQueryOf(snapshot, amount), provinces)
}

/** Lists the shipping methods for a cart, at the prices that the shopper saw, in the shop's order. */
export function offersFor(snapshot: CartSnapshot, now: number): ShippingOffer[] {
  const { subtotal, discount } = pricedAsSeen(snapshot, now).totals
  return offersOf(snapshot.shop.shippingMethods, shippingQueryOf(snapshot, subtotal - discount), snapshot.provinces)
}

/** Lists the notices of a cart. */
export const noticesIn = (snapshot: CartSnapshot, totals: Pick<Totals, 'subtotal' | 'discount'>): Notice[] =>
  noticesOf(snapshot.cart, snapshot.shop, snapshot.provinces, noticeFactsOf(snapshot, totals))

function noticeFactsOf(snapshot: CartSnapshot, { subtotal, discount }: Pick<Totals, 'subtotal' | 'discount'>): NoticeFacts {
  const { items, shop, provinces } = snapshot
  const taxed = items.filter(isTaxed)
  const offers = offersOf(shop.shippingMethods, shippingQueryOf(snapshot, subtotal - discount), provinces)
  return {
    taxClasses: taxed.length > 0 ? [...new Set(taxed.map(taxClassOf))] : [null],
    parcel: parcelIn(items),
    isMethodOffered: offers.length > 0,
  }
}

/** Returns whether a line's product may be in the cart, regardless of stock. */
export const isStillSellable = (item: CartItem, cart: Cart, now: number): item is CartItem & { sellable: Sellable } =>
  item.sellable !== undefined &&
  (cart.draft === null ? isSellable(item.sellable.product, now) : isDraftable(item.sellable)) &&
  item.sellable.product.currency === cart.currency

/** Returns whether a draft may hold it: also a product that shoppers do not see. */
export const isDraftable = ({ product }: Sellable): boolean => product.status !== 'ARCHIVED'

/** Returns a line's price now; its stored price if it is not sold any more, or the shop fixed it. */
export const currentPriceOf = (item: CartItem, cart: Cart, now: number): number =>
  cart.draft === null && isStillSellable(item, cart, now) ? item.sellable.variant.price : item.line.unitPrice

/** Lists what changed since the shopper saw the cart, one sentence each; empty if it can be bought. */
export function listChanges(snapshot: CartSnapshot, now: number): string[] {
  const { cart, items } = snapshot
  const ofLines = items.flatMap((item) => {
    if (!isStillSellable(item, cart, now)) return [`${item.sellable ? labelOf(item.sellable) : 'A product of the cart'} is no longer sold`]
    const { line, sellable } = item
    const priceChange = currentPriceOf(item, cart, now) === line.unitPrice ? [] : [`The price of ${labelOf(sellable)} has changed`]
    return availableCount(sellable.variant) < line.quantity ? [...priceChange, shortageMessage(sellable)] : priceChange
  })
  const changes = [
    ...ofLines,
    ...(isMethodLost(snapshot, now) ? ['The shipping method is no longer available'] : []),
    ...listSpentCards(snapshot, now).map(({ last4 }) => `The gift card that ends in ${last4} can no longer be used`),
    ...[unusableCodeReason(snapshot, now)].filter((lost) => lost !== undefined),
  ]
  return changes.length > 0 ? changes : changedTotals(snapshot, now)
}

/** Returns whether the cart's shipping method is no longer offered. A cart without shipping is not affected. */
const isMethodLost = (snapshot: CartSnapshot, now: number): boolean =>
  snapshot.cart.shippingMethod !== null && needsShipping(snapshot) && priced(snapshot, now).shipping === null

/** Returns whether the cart holds something that cannot be used any more. It can be bought without it. */
export const hasUnusableContent = (snapshot: CartSnapshot, now: number): boolean =>
  listSpentCards(snapshot, now).length > 0 || (!snapshot.cart.draft?.settled.includes('shippingMethod') && isMethodLost(snapshot, now))

/** Returns whether `refreshPrices` would change what the cart shows. */
export const isOutdated = (snapshot: CartSnapshot, now: number): boolean =>
  snapshot.items.some((item) => currentPriceOf(item, snapshot.cart, now) !== item.line.unitPrice) ||
  hasUnusableContent(snapshot, now) ||
  unusableCodeReason(snapshot, now) !== undefined

/** Reports changed totals when every line is unchanged: taxes, shipping, discounts or gift cards. */
function changedTotals(snapshot: CartSnapshot, now: number): string[] {
  const { total, amountDue } = priced(snapshot, now).totals
  if (snapshot.cart.shownDue === unseenDue) return ['An agent has changed the cart']
  if (total !== snapshot.cart.shownTotal) {
    const lost = lostDiscounts(snapshot, now)
    return lost.length > 0 ? lost : ['Taxes, shipping or discounts have changed, so the total changed']
  }
  return amountDue === snapshot.cart.shownDue ? [] : ['The gift cards pay a different part of the total']
}

/** Returns the cart's gift cards that can pay nothing any more. */
export const listSpentCards = ({ cart, giftCards }: CartSnapshot, now: number): GiftCard[] =>
  giftCards.filter((card) => !isUsable(card, now) || !fitsCart(card, { currency: cart.currency, customerId: cart.customerId ?? undefined }))
