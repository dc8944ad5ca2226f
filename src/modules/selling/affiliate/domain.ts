import type { affiliates, commissions } from '../../../../db/schema/ledger.ts'
import type { orders } from '../../../../db/schema/selling.ts'
import { dayMs } from '../../../lib/day.ts'
import { moneyOf } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { multiplyHalfEven } from '../../../lib/rounding.ts'

export type Affiliate = typeof affiliates.$inferSelect
export type Commission = typeof commissions.$inferSelect

/** How long a click counts. */
export const attributionWindowMs = 30 * dayMs
export const rateMaxBps = 10_000
export const codeLengthMax = 64

/** The fields of a create or a change. */
export type AffiliateInput = Partial<Pick<Affiliate, 'name' | 'code' | 'rateBps' | 'active'>>

/** Returns the form in which codes are compared: they ignore case. */
export const normalCode = (code: string): string => code.toLowerCase()

/** Returns whether a click still counts for an order. */
export const isRecentClick = (clickedAt: number, orderedAt: number): boolean => clickedAt >= orderedAt - attributionWindowMs

type CommissionBase = Pick<
  typeof orders.$inferSelect,
  'subtotal' | 'discountTotal' | 'taxIncluded' | 'shippingTax' | 'shippingTaxInclusive'
>

/** Returns the commission of an order: on goods after discounts, without shipping and tax, rounded half-even. */
export function commissionOf(order: CommissionBase, rateBps: number): number {
  const { subtotal, discountTotal, taxIncluded, shippingTax, shippingTaxInclusive } = order
  // Goods contain only their own tax.
  const taxOfGoods = taxIncluded - (shippingTaxInclusive ? shippingTax : 0)
  return multiplyHalfEven(Math.max(0, subtotal - discountTotal - taxOfGoods), rateBps, rateMaxBps)
}

/** All refunds of an order so far, in minor units. */
export type RefundedSoFar = {
  /** The refunded amount, out of `of`. */
  readonly refunded: number
  readonly of: number
  /** Refunds of goods: `refunded`, their value without tax `back`, out of the order's `of`. */
  readonly goods?: { readonly back: number; readonly of: number; readonly refunded: number }
}

/**
 * Returns a commission after refunds of its order. Refunded goods take back what they earned, even if their shipping is
 * not refunded; any other amount takes back its share of the order. Each part is rounded half-even; the sum is at most
 * the commission, and never less than before. A full refund, a refund of all goods, or one of an order without a price
 * takes back everything and ends the commission.
 */
export function afterRefund<Before extends Pick<Commission, 'amount' | 'reversed' | 'status'>>(
  before: Before,
  { refunded, of, goods = { back: 0, of: 0, refunded: 0 } }: RefundedSoFar,
): Pick<Commission, 'reversed' | 'status'> {
  const { amount, status } = before
  if (refunded >= of || (goods.of > 0 && goods.back >= goods.of)) return { reversed: amount, status: 'REVERSED' }
  const byGoods = goods.of > 0 ? multiplyHalfEven(amount, goods.back, goods.of) : 0
  const byAmounts = multiplyHalfEven(amount, Math.max(0, refunded - goods.refunded), of)
  return { reversed: Math.max(before.reversed, Math.min(amount, byGoods + byAmounts)), status }
}

/** An affiliate's earnings in one currency, in minor units, after refunds. */
export type Earnings = { currency: string; pending: number; approved: number; reversed: number }

/** Renders an affiliate as the shop sees it. */
export const affiliateView = (affiliate: Affiliate, { clicks, earnings }: { clicks: number; earnings: Earnings[] }) => ({
  ...pick(affiliate, 'id', 'shopId', 'name', 'code', 'rateBps', 'active'),
  clicks,
  earnings: earnings.map((earned) => ({ currency: earned.currency, ...moneyOf(earned, 'pending', 'approved', 'reversed') })),
  ...isoTimes(pick(affiliate, 'createdAt', 'updatedAt')),
  version: affiliate.version,
})
export type AffiliateView = ReturnType<typeof affiliateView>
