import { dayMs } from '../../../lib/day.ts'
import { type ProductSums, percentChange } from '../kpi/domain.ts'

/** Products per ranking. */
export const rankedProducts = 10
/** The limit of counts of pending work. */
export const waitingMax = 1_000
/** How many open disputes name their order, since no list of orders finds them. */
export const disputesNamed = 10
/** The limit of counted carts. */
export const cartsMax = 100_000
/** No cart is removed earlier than 90 days after it ended; see modules/selling/cart. */
const cartsKeptDays = 90

/** The steps to go live, in the recommended order. */
export const goLiveSteps = ['PRODUCTS', 'SHIPPING', 'TAXES', 'PROCESSOR_ACCOUNT', 'KYB', 'ORDERS_FINISHED'] as const
export type GoLiveStep = (typeof goLiveSteps)[number]
/** `POST /shops/v2/go-live` requires these. */
export const requiredSteps: ReadonlySet<GoLiveStep> = new Set(['KYB', 'ORDERS_FINISHED'])

/** `isCapped`: there may be more. */
export type CappedCount = { readonly total: number; readonly isCapped: boolean }

/** @param n counted up to `waitingMax + 1` */
export const cappedCountOf = (n: number): CappedCount => ({ total: Math.min(n, waitingMax), isCapped: n > waitingMax })
/** Renders a count; `totalCapped` only if there may be more. */
export const cappedCountView = ({ total, isCapped }: CappedCount): { total: number; totalCapped?: true } =>
  isCapped ? { total, totalCapped: true } : { total }

/** Returns the change in percent; null if the previous value was not positive, since a percentage would mislead. */
export const changeSince = (total: number, before: number): number | null => (before > 0 ? percentChange(total, before) : null)

/** Returns whether no cart of a period was removed yet. */
export const hasAllCarts = ({ since }: { readonly since: number }, now: number): boolean => since > now - cartsKeptDays * dayMs

/** Returns the first products by a figure, highest first, then by id. */
export function headOf(products: readonly ProductSums[], by: 'units' | 'revenue'): ProductSums[] {
  return [...products]
    .filter((product) => product[by] > 0n)
    .sort((a, b) => (a[by] === b[by] ? (a.productId < b.productId ? -1 : 1) : a[by] > b[by] ? -1 : 1))
    .slice(0, rankedProducts)
}
