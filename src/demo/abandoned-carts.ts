import { dayMs, hourMs } from '../lib/day.ts'
import { addItem, createCart } from '../modules/selling/cart/index.ts'
import { contextOf } from '../modules/shop/shop/index.ts'
import type { AppDeps } from '../providers.ts'
import type { Market } from './orders.ts'
import { depsAt } from './past-clock.ts'

/** The home screen compares two periods of 30 days. */
const period = 60 * dayMs

/** Fills carts that are never checked out, so that the conversion rate is plausible. */
export async function abandonCarts(deps: AppDeps, { plan, shop, variantIds }: Market, until: number): Promise<void> {
  const principal = { kind: 'key', id: 'demo', scopes: ['storefront'], shop: contextOf(shop) } as const
  const inStock = plan.products.flatMap(({ handle, variants }) =>
    variants.flatMap(({ onHand }, nth) => (onHand > 0 ? (variantIds.get(handle)?.[nth] ?? []) : [])),
  )
  const moments = plan.orders.map(({ at }) => at + 3 * hourMs).filter((at) => at > until - period && at <= until)
  await Promise.all(
    moments.map(async (at, nth) => {
      const variantId = inStock[nth % inStock.length]
      if (variantId === undefined) return
      const pastDeps = depsAt(deps, at)
      const caller = { shop, principal }
      // Every third shopper got as far as the e-mail address.
      const person = nth % 3 === 0 ? { email: `shopper-${nth}@demo.example`, acceptsMarketing: nth % 2 === 0 } : {}
      const { id } = await createCart(pastDeps, caller, person)
      await addItem(pastDeps, caller, id, { variantId, quantity: 1 })
    }),
  )
}
