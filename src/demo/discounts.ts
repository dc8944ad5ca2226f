import { dayMs } from '../lib/day.ts'
import { createDiscount, type DiscountDeps, listDiscounts, type NewDiscount } from '../modules/selling/discount/index.ts'
import type { Shop } from '../modules/shop/shop/domain.ts'
import { daysInYear, type PlannedOrder, type ShopPlan } from './plan.ts'

/** Amounts of about five dollars, and the purchase from which they apply. */
const thanks: Readonly<Record<string, { readonly off: number; readonly from: number }>> = {
  USD: { off: 500, from: 2_500 },
  KWD: { off: 1_500, from: 7_500 },
  MNT: { off: 1_500_000, from: 7_500_000 },
  JPY: { off: 700, from: 3_500 },
}

const summer = { firstDay: 180, lastDay: 240 }
const earlyBirds = 3
/** Codes that a shopper of today can use. */
export const demoDiscountCodes = ['WELCOME10', 'THANKS', 'FREESHIP']
/** The API counts the uses of limited discounts alone, so all have a limit. */
const plenty = 500

/** Only discounts with a code: automatic ones would change the totals of the planned orders. */
function discountsOf({ currency }: Shop, start: number): NewDiscount[] {
  const dayAt = (day: number) => start + day * dayMs
  const { off = 500, from = 2_500 } = thanks[currency] ?? {}
  return [
    { title: 'Early bird', code: 'EARLYBIRD', kind: 'PERCENT', valueBps: 1_500, usageLimit: earlyBirds },
    { title: 'Welcome', code: 'WELCOME10', kind: 'PERCENT', valueBps: 1_000, perCustomerLimit: 1, usageLimit: plenty },
    {
      ...{ title: 'Thank you', code: 'THANKS', kind: 'FIXED', usageLimit: plenty },
      ...{ amount: { amount: off, currency }, minSubtotal: { amount: from, currency } },
    },
    { title: 'Shipping on us', code: 'FREESHIP', kind: 'FREE_SHIPPING', usageLimit: 100 },
    {
      ...{ title: 'Summer sale', code: 'SUMMER15', kind: 'PERCENT', valueBps: 1_500, usageLimit: plenty },
      ...{ startsAt: dayAt(summer.firstDay), endsAt: dayAt(summer.lastDay) },
    },
    {
      ...{ title: 'Winter sale', code: 'WINTER20', kind: 'PERCENT', valueBps: 2_000, usageLimit: plenty },
      ...{ startsAt: dayAt(daysInYear + 14), endsAt: dayAt(daysInYear + 28) },
    },
  ]
}

/** Creates the missing discounts of a shop. */
export async function makeDiscounts(deps: DiscountDeps, shop: Shop, { start }: ShopPlan): Promise<void> {
  const { data: existing } = await listDiscounts(deps, shop.id, { page: 1, limit: 100, offset: 0 })
  const by = { shop, actor: { id: shop.merchantId } }
  for (const discount of discountsOf(shop, start))
    if (!existing.some(({ code }) => code === discount.code)) await createDiscount(deps, by, discount)
}

/**
 * Plans which orders use a code. Orders with a gift card use none, so that each card ends as planned.
 * @returns codes by the id of the order
 */
export function discountCodesOf({ shop: { currency }, start, orders, cards }: ShopPlan): ReadonlyMap<string, string> {
  const withCard = new Set(cards.map(({ orderId }) => orderId))
  const buyers = new Set<string>()
  const codes = new Map<string, string>()
  let left = earlyBirds
  const codeOf = ({ id, buyer, at, subtotal, fate }: PlannedOrder, nth: number): string | undefined => {
    const isFirst = !buyers.has(buyer.email)
    buyers.add(buyer.email)
    if (withCard.has(id)) return undefined
    // An order that ends without a sale returns its use.
    const isSold = !fate.declined && fate.cancelledAt === undefined
    if (isSold && nth % 5 === 2 && left-- > 0) return 'EARLYBIRD'
    const day = (at - start) / dayMs
    if (nth % 4 === 1 && day > summer.firstDay && day < summer.lastDay) return 'SUMMER15'
    if (nth % 3 === 0 && isFirst) return 'WELCOME10'
    if (nth % 11 === 4) return 'FREESHIP'
    return nth % 9 === 5 && subtotal >= (thanks[currency]?.from ?? 0) ? 'THANKS' : undefined
  }
  for (const [nth, order] of orders.entries()) {
    const code = codeOf(order, nth)
    if (code !== undefined) codes.set(order.id, code)
  }
  return codes
}
