import type { draftOrders } from '../../../../db/schema/drafts.ts'
import type { Cart } from '../cart/domain.ts'
import { endedWithoutSale, type Order } from '../order/domain.ts'

export type Draft = typeof draftOrders.$inferSelect

/**
 * `PENDING_PAYMENT`: ordered, not paid yet. `COMPLETED`: paid, whatever happened to the order since. `CANCELLED`:
 * paid, but not confirmed, so the money goes back. Computed from the cart and its order, not stored.
 */
export const draftStatuses = ['OPEN', 'PENDING_PAYMENT', 'COMPLETED', 'CANCELLED', 'EXPIRED'] as const
export type DraftStatus = (typeof draftStatuses)[number]

/** Of a shop; drafts that are over are removed with their carts. */
export const draftsPerShopMax = 10_000
/** Mails of a draft's link. */
export const sendsMax = 20
export const noteMax = 2_000

/** Returns the state of a draft's last order. */
export function standingOf(order: Pick<Order, 'status' | 'confirmedAt' | 'capturedTotal'>): Exclude<DraftStatus, 'EXPIRED'> {
  if (order.confirmedAt !== null) return 'COMPLETED'
  if (!endedWithoutSale(order) || order.status === 'COMPENSATING') return 'PENDING_PAYMENT'
  return order.capturedTotal > 0 ? 'CANCELLED' : 'OPEN'
}

/**
 * Returns the status of a draft. One whose order ended unpaid is open again.
 * @param order the last order of a CONVERTED cart
 */
export function draftStatusOf(
  { status, expiresAt }: Pick<Cart, 'status' | 'expiresAt'>,
  order: Parameters<typeof standingOf>[0] | undefined,
  now: number,
): DraftStatus {
  const standing = status === 'CONVERTED' ? (order ? standingOf(order) : 'OPEN') : status
  return standing === 'OPEN' && expiresAt <= now ? 'EXPIRED' : standing
}
