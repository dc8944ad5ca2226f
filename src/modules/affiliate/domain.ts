import type { affiliates, commissions } from '../../../db/schema/ledger.ts'
import { dayMs } from '../../lib/day.ts'
import { moneyOf } from '../../lib/money.ts'
import { isoTimes, pick } from '../../lib/records.ts'
import { shareOf } from '../../lib/rounding.ts'

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

/**
 * A commission after refunds of an order, `refunded` altogether out of `of`: what is taken back is in proportion, half-even,
 * and never less than before. A full refund, or that of an order without a price, takes back all and ends it.
 */
export function afterRefund<Before extends Pick<Commission, 'amount' | 'reversed' | 'status'>>(
  before: Before,
  { refunded, of }: { refunded: number; of: number },
): Pick<Commission, 'reversed' | 'status'> {
  if (refunded >= of) return { reversed: before.amount, status: 'REVERSED' }
  return { reversed: Math.max(before.reversed, shareOf(before.amount, refunded, of)), status: before.status }
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
