/** What a cart comes to: pure functions of what it holds, the shop it is in, and the time. */
import { availableCount, isSellable, labelOf, type Sellable, shortageOf } from '../catalog/domain.ts'
import type { Provinces } from '../countries/domain.ts'
import { type Draw, drawsOf, fitsCart, type GiftCard, isUsable } from '../gift-card/domain.ts'
import { type Offer, offerOf, offersOf, parcelOf, type Sending } from '../shipping/domain.ts'
import type { Shop } from '../shop/domain.ts'
import {
  type Cart,
  type CartLine,
  type Notice,
  type Noticed,
  noticesOf,
  type TaxedLine,
  type Totals,
  taxPlaceOf,
  taxRateAt,
  totalsOf,
} from './domain.ts'

/** A line with what it is of; a variant that is gone has neither. */
export type CartItem = { line: CartLine; sellable: Sellable | undefined }
/** All that a cart's price depends on. `provinces` is empty where no rate or zone of the shop is of one. */
export type CartSnapshot = { cart: Cart; shop: Shop; items: CartItem[]; giftCards: GiftCard[]; provinces: Provinces }
export type PricedLine = CartLine & TaxedLine
/** `lines` are in the order of the snapshot's items. `shipping` is the way that was chosen, while it is offered. */
export type Priced = { lines: PricedLine[]; shipping: Offer | null; totals: Totals; draws: Draw[] }

/** What a cart comes to at the prices of now; what is not sold any more counts at the price it was put in for. */
export const priced = (snapshot: CartSnapshot, now: number): Priced => pricedBy(snapshot, now, (item) => priceNow(item, snapshot.cart, now))

/** The same at the prices that the shopper has seen. */
export const pricedAsSeen = (snapshot: CartSnapshot, now: number): Priced => pricedBy(snapshot, now, ({ line }) => line.unitPrice)

function pricedBy(snapshot: CartSnapshot, now: number, priceOf: (item: CartItem) => number): Priced {
  const { cart, shop, items, giftCards, provinces } = snapshot
  const place = taxPlaceOf(cart, shop.country)
  const purchase = items.map((item) => ({
    unitPrice: priceOf(item),
    quantity: item.line.quantity,
    rate: isTaxed(item) ? taxRateAt(shop.taxRates, place, provinces, taxClassOf(item)) : undefined,
  }))
  const usable = giftCards.filter((card) => fitsCart(card, { currency: cart.currency, customerId: cart.customerId ?? undefined }))
  const shippingOf = (amount: number) => chosenOf(snapshot, amount)?.price.amount ?? 0
  const { lines, totals, draws } = totalsOf({ lines: purchase, shippingOf }, (amount) => drawsOf(usable, amount, now))
  return {
    lines: lines.map((taxed, at) => ({ ...(items[at] as CartItem).line, unitPrice: purchase[at]?.unitPrice ?? 0, ...taxed })),
    shipping: chosenOf(snapshot, totals.subtotal - totals.discount) ?? null,
    totals,
    draws,
  }
}

/** What is gone counts as goods that are taxed, and sent without weight: it cannot be bought. */
const isTaxed = ({ sellable }: CartItem) => sellable?.variant.taxable ?? true
const taxClassOf = ({ sellable }: CartItem) => sellable?.variant.taxClass ?? null

function parcelIn(items: readonly CartItem[]) {
  const lines = items.map(({ line: { quantity }, sellable }) => {
    const { weightGrams = 0, requiresShipping = true } = sellable?.variant ?? {}
    return { quantity, weightGrams, requiresShipping }
  })
  return parcelOf(lines)
}

/** Whether a cart holds something that has to be sent; an empty one may come to. */
export const isSentAtAll = ({ items }: Pick<CartSnapshot, 'items'>): boolean => parcelIn(items).isNeeded

/** @param amount the subtotal after discounts */
const sendingOf = ({ cart: { currency, shippingAddress }, items }: CartSnapshot, amount: number): Sending => ({
  ...parcelIn(items),
  currency,
  amount,
  to: shippingAddress ?? undefined,
})

/** The way that was chosen, while the shop offers it for this cart. */
function chosenOf(snapshot: CartSnapshot, amount: number): Offer | undefined {
  const { cart, shop, provinces } = snapshot
  const method = shop.shippingMethods.find(({ code }) => code === cart.shippingMethod)
  return method && offerOf(method, shop.shippingMethods, sendingOf(snapshot, amount), provinces)
}

/** The ways that a cart may go, at the prices that the shopper has seen, in the shop's order. */
export function offersFor(snapshot: CartSnapshot, now: number): Offer[] {
  const { subtotal, discount } = pricedAsSeen(snapshot, now).totals
  return offersOf(snapshot.shop.shippingMethods, sendingOf(snapshot, subtotal - discount), snapshot.provinces)
}

/** What a shopper has to know of a cart besides what it comes to. */
export const noticesIn = (snapshot: CartSnapshot, totals: Pick<Totals, 'subtotal' | 'discount'>): Notice[] =>
  noticesOf(snapshot.cart, snapshot.shop, snapshot.provinces, noticedIn(snapshot, totals))

function noticedIn(snapshot: CartSnapshot, { subtotal, discount }: Pick<Totals, 'subtotal' | 'discount'>): Noticed {
  const { items, shop, provinces } = snapshot
  const taxed = items.filter(isTaxed)
  const offers = offersOf(shop.shippingMethods, sendingOf(snapshot, subtotal - discount), provinces)
  return {
    taxClasses: taxed.length > 0 ? [...new Set(taxed.map(taxClassOf))] : [null],
    parcel: parcelIn(items),
    isSent: offers.length > 0,
  }
}

/** Whether a line is of something that the cart may hold, however much of it is left. */
export const isStillSold = (item: CartItem, cart: Cart, now: number): item is CartItem & { sellable: Sellable } =>
  item.sellable !== undefined && isSellable(item.sellable.product, now) && item.sellable.product.currency === cart.currency

/** What a line costs now, or what it was put in for where that is not sold any more. */
export const priceNow = (item: CartItem, cart: Cart, now: number): number =>
  isStillSold(item, cart, now) ? item.sellable.variant.price : item.line.unitPrice

/** What is not as the shopper has seen it any more, a sentence each; empty when the cart can be bought as it is. */
export function changedSince(snapshot: CartSnapshot, now: number): string[] {
  const { cart, items } = snapshot
  const ofLines = items.flatMap((item) => {
    if (!isStillSold(item, cart, now)) return [`${item.sellable ? labelOf(item.sellable) : 'A product of the cart'} is not sold any more`]
    const { line, sellable } = item
    const dearer = sellable.variant.price === line.unitPrice ? [] : [`The price of ${labelOf(sellable)} has changed`]
    return availableCount(sellable.variant) < line.quantity ? [...dearer, shortageOf(sellable)] : dearer
  })
  // What need not be sent loses nothing by it.
  const lostMethod = cart.shippingMethod !== null && isSentAtAll(snapshot) && priced(snapshot, now).shipping === null
  const changes = [
    ...ofLines,
    ...(lostMethod ? ['The shipping method is not offered any more'] : []),
    ...spentCards(snapshot, now).map(({ last4 }) => `The gift card that ends in ${last4} can no longer be used`),
  ]
  return changes.length > 0 ? changes : changedTotals(snapshot, now)
}

/** Taxes, shipping and gift cards may come to something else although everything in the cart is as it was. */
function changedTotals(snapshot: CartSnapshot, now: number): string[] {
  const { total, amountDue } = priced(snapshot, now).totals
  if (total !== snapshot.cart.shownTotal) return ['Taxes or shipping have changed, and with them the total']
  return amountDue === snapshot.cart.shownDue ? [] : ['The gift cards pay another part of the total']
}

/** The cart's gift cards that pay nothing any more. */
export const spentCards = ({ cart, giftCards }: CartSnapshot, now: number): GiftCard[] =>
  giftCards.filter((card) => !isUsable(card, now) || !fitsCart(card, { currency: cart.currency, customerId: cart.customerId ?? undefined }))
