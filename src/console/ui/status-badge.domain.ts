import type { Schema } from '../lib/api/api.ts'

/**
 * Returns whether an order has nothing left to send although nothing was sent: it was refunded first. A gift card is
 * fulfilled by its email, without a fulfilment.
 */
export const hasNothingToFulfil = ({ fulfilmentStatus, lines }: Pick<Schema<'Order'>, 'fulfilmentStatus' | 'lines'>): boolean =>
  fulfilmentStatus === 'FULFILLED' && lines.every(({ fulfilledQuantity = 0 }) => fulfilledQuantity === 0)
