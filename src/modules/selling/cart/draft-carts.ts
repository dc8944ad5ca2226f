/** The carts of draft orders, and whole carts of others. Permissions and audit are the caller's. */
import type { Writer } from '../../../../db/engine.ts'
import type { SettledField } from '../../../../db/schema/selling.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import type { Money } from '../../../lib/money.ts'
import type { Optional } from '../../../lib/objects.ts'
import { isGiftCard } from '../../catalog/product-kind/domain.ts'
import { findSellables } from '../../catalog/products/index.ts'
import { emailOf, validateAddress } from '../../customers/customer/index.ts'
import { readShop } from '../../shop/shop/index.ts'
import { noOffers, type Offer } from '../discount/domain.ts'
import { offerOfCode } from '../discount/index.ts'
import { blankCart, type CartInput, fieldsOf } from './change-cart.ts'
import { type Cart, type CartLine, draftLifeMs, nextUpdatedAt, soldCardsMax } from './domain.ts'
import { type CartItem, type CartSnapshot, isDraftable } from './pricing.ts'
import type { CartDeps } from './providers.ts'
import { provincesFor, withOffers } from './service.ts'
import { type CartView, cartView, shownBy } from './view.ts'

/** A line of a draft. Without a price it keeps its price on the draft, else it gets the product's. */
type DraftLine = { readonly variantId: string; readonly quantity: number; readonly unitPrice?: Money | undefined }
const settledFields = ['email', 'shippingAddress', 'billingAddress', 'shippingMethod'] as const satisfies readonly SettledField[]
/** A change of a draft: undefined keeps a field, null clears it. `lines` replaces all lines. */
export type DraftInput = Pick<CartInput, SettledField> &
  Optional<{ lines: readonly DraftLine[]; discountCode: string | null; customerId: string | null }>

/** Returns an empty cart and what its price depends on. */
export async function emptyCart(deps: CartDeps, shopId: string): Promise<CartSnapshot> {
  const shop = await readShop(deps, shopId)
  const cart = blankCart(deps, shop, deps.clock.now())
  return { cart, shop, items: [], giftCards: [], provinces: await provincesFor(shop), offers: noOffers }
}

/**
 * Returns a draft's cart after a change, with fixed prices. Stock is checked when the order is placed.
 * @param before as it was read
 * @throws AppError INVALID, naming the field; NOT_FOUND for an unknown customer; CONFLICT for more than any order can
 *   hold
 */
export async function updatedDraftCart(
  deps: CartDeps,
  draftId: string,
  before: CartSnapshot,
  input: DraftInput,
): Promise<{ snapshot: CartSnapshot; view: CartView }> {
  const now = deps.clock.now()
  const { shippingAddress, billingAddress } = input
  // Checked before any read: it does not depend on the draft.
  if (shippingAddress) validateAddress(shippingAddress, 'shippingAddress.')
  if (billingAddress) validateAddress(billingAddress, 'billingAddress.')
  const items = input.lines ? await itemsOf(deps, before, input.lines) : before.items
  const person = await personOf(deps, before.cart, input)
  const offer = await codeOf(deps, before, { ...before.cart, ...person }, input.discountCode)
  const discountCode = input.discountCode === undefined ? before.cart.discountCode : (offer?.codeKey ?? null)
  const settled = settledFields.filter((field) =>
    input[field] === undefined ? before.cart.draft?.settled.includes(field) : input[field] !== null,
  )
  const requested: CartSnapshot = {
    ...before,
    items,
    cart: { ...before.cart, ...person, discountCode, draft: { id: draftId, settled } },
    offers: { ...before.offers, all: offer ? [offer] : before.offers.all },
  }
  // A method's price may depend on the amount after the discount.
  const offered = await withOffers(deps, requested)
  const cart = {
    ...offered.cart,
    ...fieldsOf(offered, input, now),
    expiresAt: now + draftLifeMs,
    updatedAt: nextUpdatedAt(before.cart, now),
  }
  // The change of address or lines dropped the method.
  const stillSettled = cart.shippingMethod === null ? settled.filter((field) => field !== 'shippingMethod') : settled
  const after = { ...offered, cart: { ...cart, draft: { id: draftId, settled: stillSettled } } }
  const view = cartView(after, now)
  return { snapshot: { ...after, cart: { ...after.cart, ...shownBy(view) } }, view }
}

/** Returns the customer and e-mail address. A customer's address is the default. */
async function personOf(deps: CartDeps, before: Cart, { customerId, email }: DraftInput): Promise<Partial<Cart>> {
  if (customerId === undefined || customerId === before.customerId) return {}
  if (customerId === null) return { customerId }
  const knownEmail = await emailOf(deps, before.shopId, customerId)
  if (knownEmail === undefined) throw new AppError('NOT_FOUND', 'No such customer')
  return { customerId, ...(email === undefined && before.email === null ? { email: knownEmail } : {}) }
}

async function codeOf(
  deps: CartDeps,
  { shop }: CartSnapshot,
  { shopId, customerId, email, currency }: Cart,
  code: string | null | undefined,
): Promise<Offer | undefined> {
  if (typeof code !== 'string') return undefined
  const offer = await offerOfCode(deps, { code, currency, shopper: { shopId, customerId, email }, mode: shop.mode })
  if (!offer) throw invalidField('discountCode', 'must be an active discount of the shop')
  return offer
}

async function itemsOf(deps: CartDeps, { cart, items: before }: CartSnapshot, lines: readonly DraftLine[]): Promise<CartItem[]> {
  const found = await findSellables(
    deps,
    lines.map(({ variantId }) => variantId),
    cart.shopId,
  )
  let giftCards = 0
  return lines.map(({ variantId, quantity, unitPrice }, at) => {
    if (lines.findIndex((one) => one.variantId === variantId) < at) throw invalidField(`lines.${at}.variantId`, 'must not be repeated')
    const sellable = found.get(variantId)
    if (!sellable || !isDraftable(sellable)) throw invalidField(`lines.${at}.variantId`, 'must be a variant that the shop sells')
    if (sellable.product.currency !== cart.currency) throw invalidField(`lines.${at}.variantId`, `must be sold in ${cart.currency}`)
    if (!sellable.variant.hasPrice) throw invalidField(`lines.${at}.variantId`, 'the variant has no price yet')
    if (unitPrice && unitPrice.currency !== cart.currency)
      throw invalidField(`lines.${at}.unitPrice.currency`, `must be in the shop's currency, ${cart.currency}`)
    const existing = before.find(({ line }) => line.variantId === variantId)?.line
    if (unitPrice?.amount === 0 && isGiftCard(sellable.product))
      throw invalidField(`lines.${at}.unitPrice.amount`, 'must be above 0, because it is the amount of a gift card')
    if (isGiftCard(sellable.product)) giftCards += quantity
    if (giftCards > soldCardsMax) throw invalidField(`lines.${at}.quantity`, `an order can have at most ${soldCardsMax} gift cards`)
    const price = unitPrice?.amount ?? existing?.unitPrice ?? sellable.variant.price
    const line: CartLine = { id: existing?.id ?? deps.newId('line'), cartId: cart.id, variantId, quantity, unitPrice: price }
    return { line, sellable }
  })
}

/** Inserts a cart and its lines, inside a write. */
export async function insertCart(tx: Writer, { cartStore }: Pick<CartDeps, 'cartStore'>, { cart, items }: CartSnapshot): Promise<void> {
  await cartStore.insert(tx, cart)
  for (const { line } of items) await cartStore.insertLine(tx, line)
}

/** Stores a cart and its lines, inside a write; throws NothingChanged if it differs from `before`. */
export async function saveCart(
  tx: Writer,
  { cartStore }: Pick<CartDeps, 'cartStore'>,
  after: CartSnapshot,
  before: CartSnapshot,
): Promise<void> {
  await cartStore.saveSurely(tx, after.cart, before.cart)
  const previousLines = new Map(before.items.map(({ line }) => [line.id, line]))
  for (const { line } of after.items) {
    const previous = previousLines.get(line.id)
    previousLines.delete(line.id)
    if (!previous) await cartStore.insertLine(tx, line)
    else if (previous.quantity !== line.quantity || previous.unitPrice !== line.unitPrice) await cartStore.changeLine(tx, line)
  }
  for (const id of previousLines.keys()) await cartStore.removeLine(tx, id)
}

/** Removes the cart of a draft, and with it the draft, inside a write that has locked it. */
export const removeDraftCart = (tx: Writer, { cartStore }: Pick<CartDeps, 'cartStore'>, cartId: string): Promise<void> =>
  cartStore.remove(tx, cartId)
