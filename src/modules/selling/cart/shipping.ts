import { type NoOfferReason, type ShippingOffer, shipsTo } from '../../shop/shipping/domain.ts'
import { type CartSnapshot, isSentAtAll, offersFor } from './pricing.ts'
import type { CartDeps } from './providers.ts'
import { type CartCaller, openCart, withOffers } from './service.ts'

/** The ways that a cart may go; `reason`: why there is none. */
type ShippingOptions = { data: { code: string; title: string; amount: ShippingOffer['price'] }[]; reason?: NoOfferReason }

/**
 * The methods that are offered for a cart's address and content, in the shop's order, at their prices for it.
 * @throws AppError NOT_FOUND, also for one that is out of the caller's reach; CONFLICT for one that is not open
 */
export async function shippingOptions(deps: CartDeps, caller: CartCaller, cartId: string): Promise<ShippingOptions> {
  const { snapshot: found } = await openCart(deps, caller, cartId)
  // What a method is offered for may go by what is left after discounts.
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
  if (!isSentAtAll(snapshot)) return 'NOTHING_TO_SHIP'
  if (methods.length === 0) return 'NO_METHODS'
  if (!to) return 'NO_ADDRESS'
  return methods.some((method) => shipsTo(method, methods, to, provinces)) ? 'TOO_LARGE' : 'NOT_REACHED'
}
