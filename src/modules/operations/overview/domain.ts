import { dayMs } from '../../../lib/day.ts'
import { type ProductSums, percentChange, type Span } from '../kpi/domain.ts'

/** How many products a ranking names. */
export const rankedProducts = 10
/** What waits is counted up to this. */
export const waitingMax = 1_000
/** So many of the disputes that are open say which order they are of: no list of orders finds those. */
export const disputesNamed = 10
/** Carts of a window are counted up to this. */
export const cartsMax = 100_000
/** No cart is forgotten sooner: 90 days after it is over; see modules/selling/cart. */
export const cartsKeptDays = 90

/** What a shop goes live with, in the order in which it is best seen to. */
export const goLiveSteps = ['PRODUCTS', 'SHIPPING', 'PROCESSOR_ACCOUNT', 'KYB', 'ORDERS_FINISHED'] as const
export type GoLiveStep = (typeof goLiveSteps)[number]
/** Without these `POST /shops/v2/go-live` is refused. */
export const requiredSteps: ReadonlySet<GoLiveStep> = new Set(['KYB', 'ORDERS_FINISHED'])

/** `isCapped`: there may be more. */
export type Counted = { readonly total: number; readonly isCapped: boolean }

/** @param n how many there are, of one more than are told at most */
export const countedOf = (n: number): Counted => ({ total: Math.min(n, waitingMax), isCapped: n > waitingMax })
export const countedView = ({ total, isCapped }: Counted): { total: number; totalCapped?: true } =>
  isCapped ? { total, totalCapped: true } : { total }

/**
 * By how many percent a figure has changed; null where there was nothing before, or less: more was refunded than sold, and of that no percentage says
 * which way it went.
 */
export const changeSince = (total: number, before: number): number | null => (before > 0 ? percentChange(total, before) : null)

/** Whether all carts that were begun in these days are still there. */
export const areCartsKept = ({ from }: Span, now: number): boolean => from > Math.floor(now / dayMs) - cartsKeptDays

/** The first of products by a figure, the highest first and then by id. */
export function headOf(products: readonly ProductSums[], by: 'units' | 'revenue'): ProductSums[] {
  return [...products]
    .filter((one) => one[by] > 0n)
    .sort((a, b) => (a[by] === b[by] ? (a.productId < b.productId ? -1 : 1) : a[by] > b[by] ? -1 : 1))
    .slice(0, rankedProducts)
}
