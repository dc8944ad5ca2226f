import { createDiscount, type DiscountDeps, listDiscounts, type NewDiscount } from '../modules/selling/discount/index.ts'
import type { Shop } from '../modules/shop/shop/domain.ts'

/** Codes alone: what counts by itself would change what the planned orders come to. */
const discountsOf = ({ currency }: Shop): NewDiscount[] => [
  { title: 'Welcome', code: 'WELCOME10', kind: 'PERCENT', valueBps: 1_000, perCustomerLimit: 1 },
  { title: 'Thank you', code: 'THANKS', kind: 'FIXED', amount: { amount: 500, currency }, minSubtotal: { amount: 2_500, currency } },
  { title: 'On us', code: 'FREESHIP', kind: 'FREE_SHIPPING', usageLimit: 100 },
]

/** Gives a shop of the demo the discounts that it lacks. */
export async function makeDiscounts(deps: DiscountDeps, shop: Shop): Promise<void> {
  const { data: known } = await listDiscounts(deps, shop.id, { page: 1, limit: 100, offset: 0 })
  const by = { shop, actor: { id: shop.merchantId } }
  for (const discount of discountsOf(shop)) if (!known.some(({ code }) => code === discount.code)) await createDiscount(deps, by, discount)
}
