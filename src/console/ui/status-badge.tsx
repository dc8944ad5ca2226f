import type { Schema } from '../lib/api/api.ts'
import { common, stateName } from '../lib/i18n/common.ts'
import { hasNothingToFulfil } from './status-badge.domain.ts'

type Tone = 'good' | 'warn' | 'bad' | 'info' | 'plain'

const tones: Readonly<Record<string, Tone>> = {
  ACTIVE: 'good',
  PUBLISHED: 'good',
  PAID: 'good',
  CONFIRMED: 'info',
  FULFILLED: 'good',
  COMPLETED: 'good',
  CAPTURED: 'good',
  SUCCEEDED: 'good',
  APPROVED: 'good',
  DELIVERED: 'good',
  LIVE: 'good',
  KYB_VERIFIED: 'good',
  WON: 'good',
  OK: 'good',
  PENDING_PAYMENT: 'warn',
  PENDING: 'warn',
  PROCESSING: 'warn',
  REQUIRES_ACTION: 'warn',
  CLAIMABLE: 'warn',
  MANUAL: 'bad',
  COMPENSATING: 'warn',
  PARTIALLY_FULFILLED: 'warn',
  UNFULFILLED: 'info',
  INVITED: 'info',
  SUBMITTED: 'info',
  UNDER_REVIEW: 'warn',
  TEST: 'warn',
  PENDING_KYB: 'warn',
  PENDING_REVIEW: 'warn',
  REVOKED: 'bad',
  FAILED: 'bad',
  REJECTED: 'bad',
  LOST: 'bad',
  SUSPENDED: 'bad',
  OPEN: 'warn',
}

/**
 * Shows an API state as a coloured badge.
 * @param text replaces the state's name
 */
export const StatusBadge = ({ status, text, tone = tones[status] ?? 'plain' }: { status: string; text?: string; tone?: Tone }) => (
  <span class={`state ${tone}`}>{text ?? stateName(status)}</span>
)

type OrderStatuses = Pick<Schema<'Order'>, 'status' | 'fulfilmentStatus' | 'lines'>

const nothingToFulfil = () => <StatusBadge status="FULFILLED" text={common('nothingToFulfil')} tone="plain" />

/** Shows the state of an order. */
export function OrderStatusBadge({ order }: { order: OrderStatuses }) {
  const { status, fulfilmentStatus } = order
  if (status === 'FULFILLED' && hasNothingToFulfil(order)) return nothingToFulfil()
  return <StatusBadge status={status === 'CONFIRMED' && fulfilmentStatus === 'PARTIALLY_FULFILLED' ? fulfilmentStatus : status} />
}

/** Shows how much of an order is fulfilled; a dash where nothing will be sent. */
export function FulfilmentBadge({ order }: { order: OrderStatuses }) {
  const { status, fulfilmentStatus } = order
  if (hasNothingToFulfil(order)) return nothingToFulfil()
  if (fulfilmentStatus === 'UNFULFILLED' && (status === 'CANCELLED' || status === 'EXPIRED')) return <>–</>
  return <StatusBadge status={fulfilmentStatus} />
}
