/** The carts of agents. A request replaces the whole contents. Permissions and answers are the caller's. */
import { undefinedIfNotFound } from '../../../core/errors.ts'
import { isGiftCard } from '../../catalog/product-kind/domain.ts'
import { availableCount, isSellable } from '../../catalog/products/domain.ts'
import { findSellables } from '../../catalog/products/index.ts'
import type { Offer } from '../discount/domain.ts'
import { offerOfCode, offersOfCart, tryDiscountCode } from '../discount/index.ts'
import { type Cart, type CartLine, nextUpdatedAt, quantityMax, soldCardsMax, unseenDue } from './domain.ts'
import { type CartItem, type CartSnapshot, offersFor, pricedAsSeen } from './pricing.ts'
import type { CartDeps } from './providers.ts'
import { withOffers } from './service.ts'
import { type CartView, cartView, shownBy } from './view.ts'

/** The contents of an agent's cart. */
export type AgentCartInput = Pick<Cart, 'email' | 'shippingAddress' | 'shippingMethod' | 'agent' | 'expiresAt'> & {
  /** Quantities by variant. */
  readonly lines: ReadonlyMap<string, number>
  /** Discount codes; `isTried`: an earlier request sent it, so it does not count as a try. */
  readonly codes: readonly { readonly code: string; readonly isTried: boolean }[]
  /** The address that tries of codes are limited by. */
  readonly address: string
}
export type AgentCartResult = {
  readonly snapshot: CartSnapshot
  readonly view: CartView
  /** Variants without a line: the shop does not sell them, or they are gift cards beyond the most of an order. */
  readonly unavailable: readonly string[]
  /** Variants without stock. Their lines cannot be bought. */
  readonly soldOut: readonly string[]
  /** Variants of which fewer units are available than requested. */
  readonly lowered: readonly string[]
}

/**
 * Returns an agent's cart with new contents, at current prices. Quantities are lowered to the stock. Of several codes
 * the one that takes off most is used. A shipping method that is not offered is dropped.
 * @param before as it was read; an empty cart for a new one
 * @throws AppError RATE_LIMITED after too many unknown codes; CONFLICT for more than an order can hold
 */
export async function updatedAgentCart(deps: CartDeps, before: CartSnapshot, input: AgentCartInput): Promise<AgentCartResult> {
  const now = deps.clock.now()
  const { lines, codes, address, ...fields } = input
  const { items, ...refused } = await itemsOf(deps, before, lines, now)
  const cart: Cart = { ...before.cart, ...fields, shippingMethod: null, discountCode: null, updatedAt: nextUpdatedAt(before.cart, now) }
  const coded = await bestOffers(deps, { ...before, cart, items }, await codeOffersOf(deps, { ...before, cart }, codes, address), input)
  const snapshot = withMethod(coded, input.shippingMethod, now)
  const view = cartView(snapshot, now)
  return { ...refused, snapshot: { ...snapshot, cart: { ...snapshot.cart, ...shownBy(view), shownDue: unseenDue } }, view }
}

type FoundItems = Pick<AgentCartResult, 'unavailable' | 'soldOut' | 'lowered'> & { readonly items: CartItem[] }

async function itemsOf(
  deps: CartDeps,
  { cart, items: before }: CartSnapshot,
  lines: AgentCartInput['lines'],
  now: number,
): Promise<FoundItems> {
  // The variants of these were read with the cart.
  const itemsBefore = new Map(before.map((item) => [item.line.variantId, item]))
  const newIds = [...lines.keys()].filter((variantId) => !itemsBefore.get(variantId)?.sellable)
  const sellables = await findSellables(deps, newIds, cart.shopId)
  const [items, unavailable, soldOut, lowered] = [[] as CartItem[], [] as string[], [] as string[], [] as string[]]
  let giftCardsLeft = soldCardsMax
  for (const [variantId, requested] of lines) {
    const sellable = itemsBefore.get(variantId)?.sellable ?? sellables.get(variantId)
    const isCard = sellable !== undefined && isGiftCard(sellable.product)
    const isSold = sellable !== undefined && isSellable(sellable.product, now) && sellable.product.currency === cart.currency
    if (!isSold || (isCard && giftCardsLeft === 0)) {
      unavailable.push(variantId)
      continue
    }
    const possible = Math.min(requested, availableCount(sellable.variant), isCard ? giftCardsLeft : quantityMax)
    if (isCard) giftCardsLeft -= possible
    if (possible === 0) soldOut.push(variantId)
    else if (possible < requested) lowered.push(variantId)
    const id = itemsBefore.get(variantId)?.line.id ?? deps.newId('line')
    const quantity = possible === 0 ? Math.min(requested, quantityMax) : possible
    const line: CartLine = { id, cartId: cart.id, variantId, quantity, unitPrice: sellable.variant.price }
    items.push({ line, sellable })
  }
  return { items, unavailable, soldOut, lowered }
}

/** Returns the discounts of those codes that can be used. */
async function codeOffersOf(
  deps: CartDeps,
  { cart, shop }: CartSnapshot,
  codes: AgentCartInput['codes'],
  address: string,
): Promise<Offer[]> {
  const { currency, shopId, customerId, email, id: cartId } = cart
  const offers: Offer[] = []
  for (const { code, isTried } of codes) {
    const query = { code, currency, shopper: { shopId, customerId, email }, mode: shop.mode }
    const offer = isTried
      ? await offerOfCode(deps, query)
      : await tryDiscountCode(deps, { ...query, cartId, customerId: undefined, address }).catch(undefinedIfNotFound)
    if (offer) offers.push(offer)
  }
  return offers
}

/** Returns the cart with the code that leaves the smallest total; of equal ones the first. */
async function bestOffers(deps: CartDeps, snapshot: CartSnapshot, coded: readonly Offer[], input: AgentCartInput): Promise<CartSnapshot> {
  const now = deps.clock.now()
  const { cart } = snapshot
  const automatic = (await offersOfCart(deps, cart.shopId, cart.id)).filter(({ codeKey }) => codeKey === null)
  const candidates = (coded.length > 0 ? coded : [undefined]).map((offer) => {
    const offers = { ...snapshot.offers, all: offer ? [...automatic, offer] : automatic }
    return withOffers(deps, { ...snapshot, offers, cart: { ...cart, discountCode: offer?.codeKey ?? null } })
  })
  if (coded.length <= 1) return candidates[0] as Promise<CartSnapshot>
  const priced = (await Promise.all(candidates)).map((candidate) => {
    const { total } = pricedAsSeen(withMethod(candidate, input.shippingMethod, now), now).totals
    return { candidate, total }
  })
  return priced.reduce((best, next) => (next.total < best.total ? next : best)).candidate
}

/** Returns the cart with a shipping method, if that is offered for it. */
function withMethod(snapshot: CartSnapshot, code: string | null, now: number): CartSnapshot {
  const isOffered = code !== null && snapshot.cart.shippingAddress !== null && offersFor(snapshot, now).some((offer) => offer.code === code)
  return isOffered ? { ...snapshot, cart: { ...snapshot.cart, shippingMethod: code } } : snapshot
}
