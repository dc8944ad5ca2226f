import { AppError, invalidField } from '../../../core/errors.ts'
import { tryCode } from '../gift-card/index.ts'
import { changeWithRetry } from './change-cart.ts'
import { type Cart, giftCardsMax } from './domain.ts'
import type { CartDeps } from './providers.ts'
import { type CartCaller, cartOf, isServer, noSuchCart, notOpen } from './service.ts'
import type { CartView } from './view.ts'

/**
 * Applies a gift card to a cart. Applying it again changes nothing.
 * @param address limits the tries of the caller
 * @throws AppError INVALID if `cartId` is needed; NOT_FOUND for the cart, and for a card that cannot be used, whatever
 *   the cause; CONFLICT for a cart that is not open or full; RATE_LIMITED
 */
export async function applyGiftCard(
  deps: CartDeps,
  caller: CartCaller,
  { code, cartId }: { code: string; cartId?: string | undefined },
  address: string,
): Promise<CartView> {
  const { principal, shop } = caller
  const cart = await openCart(deps, caller, cartId)
  const card = await tryCode(deps, {
    shopId: shop.id,
    code,
    currency: cart.currency,
    // A guest's cart becomes the cart of the customer who changes it.
    customerId: principal.kind === 'customer' ? principal.id : (cart.customerId ?? undefined),
    cartId: cart.id,
    // All shoppers of a shop's own server share one address.
    address: isServer(principal) ? undefined : address,
  })
  return changeWithRetry(deps, caller, cart.id, async (snapshot, now) => {
    const { giftCards } = snapshot
    if (giftCards.some(({ id }) => id === card.id)) return { snapshot }
    if (giftCards.length >= giftCardsMax)
      throw new AppError('CONFLICT', `A cart can have at most ${giftCardsMax} gift cards`, { code: 'limit_reached' })
    return {
      snapshot: { ...snapshot, giftCards: [...giftCards, card] },
      store: (tx) => deps.cartStore.addGiftCard(tx, cart.id, card.id, now),
    }
  })
}

/**
 * Removes a gift card from a cart, or all of them.
 * @throws AppError INVALID if `cartId` is needed; NOT_FOUND for the cart, or a card that is not on it; CONFLICT
 */
export async function removeGiftCards(
  deps: CartDeps,
  caller: CartCaller,
  { giftCardId, cartId }: { giftCardId?: string | undefined; cartId?: string | undefined },
): Promise<CartView> {
  const cart = await openCart(deps, caller, cartId)
  return changeWithRetry(deps, caller, cart.id, async (snapshot) => {
    const removedIds = snapshot.giftCards.map(({ id }) => id).filter((id) => giftCardId === undefined || id === giftCardId)
    if (giftCardId !== undefined && removedIds.length === 0) throw new AppError('NOT_FOUND', 'No such gift card on the cart')
    const giftCards = snapshot.giftCards.filter(({ id }) => !removedIds.includes(id))
    return { snapshot: { ...snapshot, giftCards }, store: (tx) => deps.cartStore.removeGiftCards(tx, cart.id, removedIds) }
  })
}

/** Finds the named cart, or the customer's newest open one. */
async function openCart(deps: CartDeps, caller: CartCaller, cartId: string | undefined): Promise<Cart> {
  const { principal, shop } = caller
  if (cartId !== undefined) {
    const cart = await cartOf(deps, caller, cartId)
    if (cart.status !== 'OPEN') throw notOpen(cart)
    return cart
  }
  if (principal.kind !== 'customer') throw invalidField('cartId', "required, except with a customer's token")
  const latest = await deps.cartStore.latestOf(shop.id, principal.id, deps.clock.now())
  if (!latest) throw noSuchCart()
  return latest
}
