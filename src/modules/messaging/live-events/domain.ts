import type { liveEvents } from '../../../../db/schema/live.ts'
import type { auditLog } from '../../../../db/schema/people.ts'
import type { orderEvents, orders } from '../../../../db/schema/selling.ts'
import { minuteMs } from '../../../lib/day.ts'
import { pick } from '../../../lib/objects.ts'

export type LiveRow = typeof liveEvents.$inferSelect
type AuditRow = typeof auditLog.$inferSelect

/** Who may be told: whoever reads orders, which all of a shop do; whoever reads the catalog; operators. */
export type Audience = 'orders' | 'catalog' | 'operators'

/** What is told, of a shop or, where `shopId` is null, of the instance. */
export type LiveEvent = {
  readonly name: string
  readonly shopId: string | null
  readonly audience: Audience
  readonly data: Readonly<Record<string, unknown>>
}

/** For so long a place may be gone on from (contract, section 11). */
export const resumableMs = 60 * minuteMs

/** An event of an order, and what of the order is told with it. */
export type OrderEventRow = Pick<typeof orderEvents.$inferSelect, 'id' | 'type' | 'at' | 'orderId' | 'detail'> &
  Pick<typeof orders.$inferSelect, 'shopId' | 'number' | 'status' | 'paymentStatus' | 'fulfilmentStatus' | 'total' | 'currency' | 'mode'>

/** What orders are told by: their own trail, under the names of webhook messages where there are such. */
const renamed: Readonly<Record<string, string>> = { PAYMENT_CAPTURED: 'paid', NOTHING_TO_PAY: 'paid', DISPUTE_OPENED: 'disputed' }
export const orderEventName = (type: string): string => `order.${renamed[type] ?? type.toLowerCase()}`

/** Types of the trail of orders; test/modules/messaging/live-events holds them against the sources. */
export const orderEventTypes = [
  'PLACED',
  'NOTHING_TO_PAY',
  'PAYMENT_STARTED',
  'PAYMENT_REQUIRES_ACTION',
  'PAYMENT_AUTHORIZED',
  'PAYMENT_PROCESSING',
  'PAYMENT_FAILED',
  'PAYMENT_VOIDED',
  'PAYMENT_FAILED_OVER',
  'PAYMENT_PARTIALLY_CAPTURED',
  'PAYMENT_CAPTURED',
  'LATE_CAPTURE',
  'CONFIRMED',
  'PARTIALLY_FULFILLED',
  'FULFILLED',
  'FULFILMENT_UPDATED',
  'COMPLETED',
  'EXPIRED',
  'COMPENSATING',
  'CANCELLED',
  'CANCEL_REQUESTED',
  'REFUND_REQUESTED',
  'REFUNDED',
  'REFUND_CLAIMABLE',
  'REFUND_MANUAL',
  'REFUND_FAILED',
  'DISPUTE_OPENED',
  'DISPUTE_WON',
  'DISPUTE_LOST',
] as const

/** Of what a trail says of an event, ids and numbers; never what somebody wrote. */
const idNames = { payment: 'paymentId', refund: 'refundId', dispute: 'disputeId', fulfilment: 'fulfilmentId' } as const
const idForm = /^[a-z]+_[0-9a-z]{26}$/

function detailOf({ detail, currency }: Pick<OrderEventRow, 'detail' | 'currency'>): Readonly<Record<string, unknown>> {
  const ids = Object.entries(idNames).flatMap(([from, to]) => {
    const id = detail[from]
    return typeof id === 'string' && idForm.test(id) ? [[to, id]] : []
  })
  const { amount } = detail
  return { ...Object.fromEntries(ids), ...(typeof amount === 'number' ? { amount: { amount, currency } } : {}) }
}

export const orderTold = (row: OrderEventRow): LiveEvent => ({
  name: orderEventName(row.type),
  shopId: row.shopId,
  audience: 'orders',
  data: {
    ...pick(row, 'orderId', 'number', 'status', 'paymentStatus', 'fulfilmentStatus', 'mode'),
    total: { amount: row.total, currency: row.currency },
    ...detailOf(row),
    at: new Date(row.at).toISOString(),
  },
})

/** By these an order changes the stock of what is in it. Where it gives back, it says so itself: see `tellStockOf`. */
const stockTypes: readonly string[] = ['PLACED', 'CONFIRMED']
export const changesStock = ({ type }: Pick<OrderEventRow, 'type'>): boolean => stockTypes.includes(type)

/** How many of a variant there are. */
export type StockFigures = {
  readonly shopId: string
  readonly productId: string
  readonly variantId: string
  readonly onHand: number
  readonly reserved: number
}

export const stockTold = (row: StockFigures, because: { readonly orderId?: string; readonly at: number }): LiveEvent => ({
  name: 'stock.changed',
  shopId: row.shopId,
  audience: 'catalog',
  data: {
    ...pick(row, 'productId', 'variantId', 'onHand', 'reserved'),
    available: row.onHand - row.reserved,
    orderId: because.orderId ?? null,
    at: new Date(because.at).toISOString(),
  },
})

/** Of the audit trail: what an operator's pages wait for, by the beginnings of its actions. */
const operatorActions = ['kyb.', 'lending.', 'lending_document.'] as const
const operatorWords: Readonly<Record<string, string>> = {
  'shop.suspended': 'shop.suspended',
  'shop.restored': 'shop.restored',
  'shop.verified': 'shop.verified',
  'shop.went_live': 'shop.went_live',
  'merchant.created': 'merchant.created',
  'job.requested': 'job.requested',
  'processor.isolated': 'breaker.isolated',
  'processor.restored': 'breaker.restored',
}
/** Reading changes nothing that a page shows. */
const isReading = (action: string): boolean => action.endsWith('.read')

/** What operators are told by the trail; undefined of all else. */
export function auditTold({ action, subject, shopId, at }: Pick<AuditRow, 'action' | 'subject' | 'shopId' | 'at'>): LiveEvent | undefined {
  const isWaitedFor = operatorActions.some((beginning) => action.startsWith(beginning)) && !isReading(action)
  const name = operatorWords[action] ?? (isWaitedFor ? action : undefined)
  if (name === undefined) return undefined
  return { name, shopId: null, audience: 'operators', data: { subject, shopId, at: new Date(at).toISOString() } }
}

/** What becomes of the shop itself, by the names of the audit trail. */
export const shopEventNames = ['shop.changed', 'shop.verified', 'shop.went_live', 'shop.suspended', 'shop.restored'] as const

/** What a shop is told by the trail: that it is another than it was. */
export function shopTold({ action, subject, at }: Pick<AuditRow, 'action' | 'subject' | 'at'>): LiveEvent | undefined {
  const name = shopEventNames.find((one) => one === action)
  return name && { name, shopId: subject, audience: 'orders', data: { shopId: subject, at: new Date(at).toISOString() } }
}

/** A variant whose stock was changed by hand. */
export const variantChanged = ({ action, subject }: Pick<AuditRow, 'action' | 'subject'>): string | undefined =>
  action === 'variant.stock_changed' ? subject : undefined

/** A shop whose people are to look anew at what they may. */
export const shopShut = ({ action, subject }: Pick<AuditRow, 'action' | 'subject'>): string | undefined =>
  action === 'shop.suspended' ? subject : undefined

const staffActions: readonly string[] = ['staff.changed', 'staff.removed']
/** A shop of which somebody has another role by now, or none. */
export const staffMoved = ({ action, shopId }: Pick<AuditRow, 'action' | 'shopId'>): string | undefined =>
  staffActions.includes(action) ? (shopId ?? undefined) : undefined

/** Rows under this name are not told as they are: the stock of an order's lines was changed. */
export const stockOfOrder = 'stock.of_order'

export const rowTold = ({ name, shopId, data, at }: Pick<LiveRow, 'name' | 'shopId' | 'data' | 'at'>): LiveEvent => ({
  name,
  shopId,
  audience: shopId === null ? 'operators' : 'catalog',
  data: { ...data, at: new Date(at).toISOString() },
})

/** What operators are told of sales: how many there were since they were told last. */
export const salesTold = (count: number, at: number): LiveEvent => ({
  name: 'order.confirmed',
  shopId: null,
  audience: 'operators',
  data: { count, at: new Date(at).toISOString() },
})
