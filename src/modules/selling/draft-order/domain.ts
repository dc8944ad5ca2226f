import type { draftOrders } from '../../../../db/schema/drafts.ts'
import type { Cart } from '../cart/domain.ts'
import { endedWithoutSale, type Order } from '../order/domain.ts'

export type Draft = typeof draftOrders.$inferSelect

/**
 * `PENDING_PAYMENT`: its order is placed, and not paid yet. `COMPLETED`: it was paid, whatever became of the order since. `CANCELLED`: what was
 * paid goes back, because it could not be made a sale. Nothing of it is stored: it follows from the cart and its order.
 */
export const draftStatuses = ['OPEN', 'PENDING_PAYMENT', 'COMPLETED', 'CANCELLED', 'EXPIRED'] as const
export type DraftStatus = (typeof draftStatuses)[number]

/** Of a shop, at any time; those that are over go with their carts. */
export const draftsPerShopMax = 10_000
/** How often the link of a draft is mailed. */
export const sendsMax = 20
export const noteMax = 2_000

/** What has become of the order that a draft's cart became last. */
export function standingOf(order: Pick<Order, 'status' | 'confirmedAt' | 'capturedTotal'>): Exclude<DraftStatus, 'EXPIRED'> {
  if (order.confirmedAt !== null) return 'COMPLETED'
  if (!endedWithoutSale(order) || order.status === 'COMPENSATING') return 'PENDING_PAYMENT'
  return order.capturedTotal > 0 ? 'CANCELLED' : 'OPEN'
}

/**
 * What a draft reads as. One whose order came to nothing unpaid waits to be paid again.
 * @param order the last that its cart became, of a cart that is CONVERTED
 */
export function draftStatusOf(
  { status, expiresAt }: Pick<Cart, 'status' | 'expiresAt'>,
  order: Parameters<typeof standingOf>[0] | undefined,
  now: number,
): DraftStatus {
  const standing = status === 'CONVERTED' ? (order ? standingOf(order) : 'OPEN') : status
  return standing === 'OPEN' && expiresAt <= now ? 'EXPIRED' : standing
}
