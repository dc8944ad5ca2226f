import type { affiliates, commissions } from '../../../../db/schema/ledger.ts'
import { dayMs } from '../../../lib/day.ts'
import { moneyOf } from '../../../lib/money.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { shareOf } from '../../../lib/rounding.ts'

export type Affiliate = typeof affiliates.$inferSelect
export type Commission = typeof commissions.$inferSelect

/** A click counts for so long: for orders, and among a partner's clicks. */
export const attributionWindowMs = 30 * dayMs
export const rateMaxBps = 10_000
export const codeLengthMax = 64

/** What a create or a change says. */
export type AffiliateInput = Partial<Pick<Affiliate, 'name' | 'code' | 'rateBps' | 'active'>>

/** Codes are one whatever their capitals. */
export const normalCode = (code: string): string => code.toLowerCase()

/** Whether a click still counts for an order. */
export const isRecentClick = (clickedAt: number, orderedAt: number): boolean => clickedAt >= orderedAt - attributionWindowMs

/** What a partner earns by an order: of the goods less discounts, without shipping and tax, also that which the prices hold; half-even. */
export const commissionOf = (
  { subtotal, discountTotal, taxIncluded }: { subtotal: number; discountTotal: number; taxIncluded: number },
  rateBps: number,
): number => shareOf(Math.max(0, subtotal - discountTotal - taxIncluded), rateBps, rateMaxBps)

/** What was refunded of an order altogether, in minor units. */
export type RefundedSoFar = {
  /** All of it, out of `of`. */
  readonly refunded: number
  readonly of: number
  /** What of it went back for goods, `refunded`, and what these were worth without tax, `back`, out of `of` for all of the order's. */
  readonly goods?: { readonly back: number; readonly of: number; readonly refunded: number }
}

/**
 * A commission after refunds of an order. Goods that went back take back what was earned by them, though their shipping was kept; any
 * other amount is in proportion to the whole. Each half-even, together no more than all, and never less than before. A full refund, one
 * of all goods, or that of an order without a price, takes back all and ends it.
 */
export function afterRefund<Before extends Pick<Commission, 'amount' | 'reversed' | 'status'>>(
  before: Before,
  { refunded, of, goods = { back: 0, of: 0, refunded: 0 } }: RefundedSoFar,
): Pick<Commission, 'reversed' | 'status'> {
  const { amount, status } = before
  if (refunded >= of || (goods.of > 0 && goods.back >= goods.of)) return { reversed: amount, status: 'REVERSED' }
  const byGoods = goods.of > 0 ? shareOf(amount, goods.back, goods.of) : 0
  const byAmounts = shareOf(amount, Math.max(0, refunded - goods.refunded), of)
  return { reversed: Math.max(before.reversed, Math.min(amount, byGoods + byAmounts)), status }
}

/** What a partner has earned in one currency: amounts in minor units, after what refunds took back. */
export type Earnings = { currency: string; pending: number; approved: number; reversed: number }

/** An affiliate as the shop sees it. */
export const affiliateView = (affiliate: Affiliate, { clicks, earnings }: { clicks: number; earnings: Earnings[] }) => ({
  ...pick(affiliate, 'id', 'shopId', 'name', 'code', 'rateBps', 'active'),
  clicks,
  earnings: earnings.map((earned) => ({ currency: earned.currency, ...moneyOf(earned, 'pending', 'approved', 'reversed') })),
  ...isoTimes(pick(affiliate, 'createdAt', 'updatedAt')),
  version: affiliate.version,
})
export type AffiliateView = ReturnType<typeof affiliateView>
