/** What an order stores when the state of its payment changes. Pure functions. */
import type { Payment, PaymentStatus } from '../../../payments/payment/domain.ts'
import { type Order, pendingPaymentMs, pollAt, processingMs, resumeAfterMs } from '../domain.ts'

type StateChange = {
  updatedAt: number
  order: Order
  payment: Payment
  isGivenUp: boolean
  /** The processor has given no reference. */
  hasNoReferences: boolean
  isPaidOtherwise: boolean
}

/**
 * Returns when the job looks at an order that a request works on. A recent time stays: an update that changes no
 * indexed column is cheaper (PostgreSQL's HOT update).
 */
const resumeTimeFor = (resumeAt: number | null, now: number): number =>
  resumeAt !== null && resumeAt > now + resumeAfterMs / 2 && resumeAt <= now + resumeAfterMs ? resumeAt : now + resumeAfterMs

/** Returns the change of a waiting order for a payment's new state. */
export function changeForState(
  state: PaymentStatus,
  { updatedAt, order, payment, isGivenUp, hasNoReferences, isPaidOtherwise }: StateChange,
): Partial<Order> | undefined {
  const { expiresAt } = order
  switch (state) {
    case 'REQUIRES_ACTION':
      // The shopper pays now. The job asks too, in case the page is closed and the webhook lost.
      return { attempts: 0, resumeAt: pollAt({ ...payment, status: state }, order, updatedAt) }
    case 'AUTHORIZED':
      return { paymentStatus: 'AUTHORIZED', attempts: 0, resumeAt: resumeTimeFor(order.resumeAt, updatedAt) }
    case 'PROCESSING': {
      const undecided = { ...payment, status: state }
      // A voided payment is not awaited, and one that cannot be queried not longer than usual.
      if (isGivenUp) return { attempts: 0, resumeAt: pollAt(undecided, order, updatedAt) }
      if (hasNoReferences) return { paymentStatus: 'PROCESSING', attempts: 0, resumeAt: null }
      const extended = { expiresAt: Math.max(expiresAt, payment.createdAt + processingMs) }
      return { ...extended, paymentStatus: 'PROCESSING', attempts: 0, resumeAt: pollAt(undecided, extended, updatedAt) }
    }
    case 'FAILED':
    case 'VOIDED': {
      // It may be paid again with a new key. Until it expires it keeps its stock.
      const expiry = Math.min(expiresAt, updatedAt + pendingPaymentMs)
      return { paymentStatus: 'FAILED', attempts: 0, expiresAt: expiry, resumeAt: isPaidOtherwise ? updatedAt : null }
    }
    case 'PENDING':
    case 'CAPTURED':
      return undefined
  }
}

/**
 * Returns the change of an ended order for a payment that ends after it; none after a sale or a partial capture, which
 * was refunded.
 */
export const changeOfEndedOrder = (state: PaymentStatus, { confirmedAt, capturedTotal }: Order): Partial<Order> | undefined =>
  state === 'FAILED' || state === 'VOIDED' ? (confirmedAt === null && capturedTotal === 0 ? { paymentStatus: state } : {}) : undefined
