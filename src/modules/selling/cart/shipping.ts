import { type NoOfferReason, type ShippingOffer, shipsTo } from '../../shop/shipping/domain.ts'
import { type CartSnapshot, needsShipping, offersFor } from './pricing.ts'
import type { CartDeps } from './providers.ts'
import { type CartCaller, openCart, withOffers } from './service.ts'

/** `reason`: why `data` is empty. */
type ShippingOptions = { data: { code: string; title: string; amount: ShippingOffer['price'] }[]; reason?: NoOfferReason }

/**
 * Lists the shipping methods for a cart's address and contents, with their prices, in the shop's order.
 * @throws AppError NOT_FOUND, also for a cart that the caller may not access; CONFLICT for one that is not open
 */
export async function shippingOptions(deps: CartDeps, caller: CartCaller, cartId: string): Promise<ShippingOptions> {
  const { snapshot: found } = await openCart(deps, caller, cartId)
  // A method may depend on the amount after discounts.
  const snapshot = await withOffers(deps, found)
  const offers = snapshot.cart.shippingAddress && snapshot.items.length > 0 ? offersFor(snapshot, deps.clock.now()) : []
  const data = offers.map(({ code, title, price }) => ({ code, title, amount: price }))
  return data.length > 0 ? { data } : { data, reason: reasonOf(snapshot) }
}

function reasonOf(snapshot: CartSnapshot): NoOfferReason {
  const { cart, items, shop, provinces } = snapshot
  const { shippingMethods: methods } = shop
  const to = cart.shippingAddress
  if (items.length === 0) return 'EMPTY_CART'
  if (!needsShipping(snapshot)) return 'NOTHING_TO_SHIP'
  if (methods.length === 0) return 'NO_METHODS'
  if (!to) return 'NO_ADDRESS'
  return methods.some((method) => shipsTo(method, methods, to, provinces)) ? 'TOO_LARGE' : 'NOT_REACHED'
}
