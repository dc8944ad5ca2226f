import { shopOf } from '../../shop/shop/index.ts'
import { tryDiscountCode } from '../discount/index.ts'
import { changeWithRetry } from './change-cart.ts'
import { assertNoDraft } from './domain.ts'
import type { CartDeps } from './providers.ts'
import { type CartCaller, cartOf, isServer, notOpen } from './service.ts'
import type { CartView } from './view.ts'

/**
 * Sets the discount code of a cart; null removes it. The code may apply to nothing in the cart; its notices then say
 * why.
 * @param address limits the tries of the caller
 * @throws AppError NOT_FOUND for the cart, and for a code that cannot be used, whatever the cause; CONFLICT for a cart
 *   that is not open; RATE_LIMITED
 */
export async function changeDiscountCode(
  deps: CartDeps,
  caller: CartCaller,
  cartId: string,
  { code, address }: { code: string | null; address: string },
): Promise<CartView> {
  const { principal, shop } = caller
  const cart = await cartOf(deps, caller, cartId)
  if (cart.status !== 'OPEN') throw notOpen(cart)
  assertNoDraft(cart)
  if (code === null)
    return changeWithRetry(deps, caller, cartId, async (snapshot) => ({
      snapshot: { ...snapshot, cart: { ...snapshot.cart, discountCode: null } },
    }))
  // A guest's cart becomes the cart of the customer who changes it.
  const customerId = principal.kind === 'customer' ? principal.id : cart.customerId
  const offer = await tryDiscountCode(deps, {
    code,
    currency: cart.currency,
    shopper: { shopId: shop.id, customerId, email: cart.email },
    mode: (await shopOf(deps, shop)).mode,
    cartId,
    customerId: customerId ?? undefined,
    // All shoppers of a shop's own server share one address.
    address: isServer(principal) ? undefined : address,
  })
  return changeWithRetry(deps, caller, cartId, async (snapshot) => {
    const { cart: before, offers } = snapshot
    const all = [...offers.all.filter(({ codeKey }) => codeKey === null), offer]
    return { snapshot: { ...snapshot, cart: { ...before, discountCode: offer.codeKey }, offers: { ...offers, all } } }
  })
}
