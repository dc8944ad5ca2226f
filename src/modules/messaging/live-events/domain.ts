import type { liveEvents } from '../../../../db/schema/live.ts'
import type { auditLog } from '../../../../db/schema/people.ts'
import type { orderEvents, orders } from '../../../../db/schema/selling.ts'
import { minuteMs } from '../../../lib/day.ts'
import { pick } from '../../../lib/objects.ts'

export type LiveRow = typeof liveEvents.$inferSelect
type AuditRow = typeof auditLog.$inferSelect

/** Who receives an event: readers of orders (everyone in a shop), readers of the catalog, or operators. */
type Audience = 'orders' | 'catalog' | 'operators'

/** An event of a shop; `shopId` null: of the instance. */
export type LiveEvent = {
  readonly name: string
  readonly shopId: string | null
  readonly audience: Audience
  readonly data: Readonly<Record<string, unknown>>
}

/** A stream can be resumed for this long. */
export const resumableMs = 60 * minuteMs

/** An event of an order, with the fields of the order that it carries. */
export type OrderEventRow = Pick<typeof orderEvents.$inferSelect, 'id' | 'type' | 'at' | 'orderId' | 'detail'> &
  Pick<typeof orders.$inferSelect, 'shopId' | 'number' | 'status' | 'paymentStatus' | 'fulfilmentStatus' | 'total' | 'currency' | 'mode'>

/** Orders use the names of webhook events where there are such. */
const eventNames: Readonly<Record<string, string>> = { PAYMENT_CAPTURED: 'paid', NOTHING_TO_PAY: 'paid', DISPUTE_OPENED: 'disputed' }
/** Returns the public name of an order event: that of its webhook event, else its type in lower case. */
export const orderEventName = (type: string): string => `order.${eventNames[type] ?? type.toLowerCase()}`

/** Event types of orders. A test in test/modules/messaging/live-events compares them with the sources. */
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
  'GIFT_CARD_ISSUED',
  'PARTIALLY_FULFILLED',
  'FULFILLED',
  'FULFILMENT_UPDATED',
  'UPDATED',
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
  'RETURN_REQUESTED',
  'RETURN_APPROVED',
  'RETURN_REJECTED',
  'RETURN_RECEIVED',
  'DISPUTE_OPENED',
  'DISPUTE_WON',
  'DISPUTE_LOST',
] as const

/** Only ids and numbers of an event's detail; never text that a person wrote. */
const idNames = { payment: 'paymentId', refund: 'refundId', dispute: 'disputeId', fulfilment: 'fulfilmentId', return: 'returnId' } as const
const idForm = /^[a-z]+_[0-9a-z]{26}$/

function detailOf({ detail, currency }: Pick<OrderEventRow, 'detail' | 'currency'>): Readonly<Record<string, unknown>> {
  const ids = Object.entries(idNames).flatMap(([from, to]) => {
    const id = detail[from]
    return typeof id === 'string' && idForm.test(id) ? [[to, id]] : []
  })
  const { amount } = detail
  return { ...Object.fromEntries(ids), ...(typeof amount === 'number' ? { amount: { amount, currency } } : {}) }
}

/** Converts a row to an event for readers of orders. It has no text that a person wrote. */
export const orderEventOf = (row: OrderEventRow): LiveEvent => ({
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

/** Order events that change stock. Cancellations announce it themselves, see `announceOrderStock`. */
const stockTypes: readonly string[] = ['PLACED', 'CONFIRMED']
/**
 * Returns whether an order event changed the stock of its lines. Cancellations are left out: they announce it
 * themselves.
 */
export const changesStock = ({ type }: Pick<OrderEventRow, 'type'>): boolean => stockTypes.includes(type)

/** The stock of a variant. */
export type VariantStock = {
  readonly shopId: string
  readonly productId: string
  readonly variantId: string
  readonly onHand: number
  readonly reserved: number
}

/**
 * Converts the stock of a variant to an event for readers of the catalog.
 * @param because the order that changed it, if one did, and the time in milliseconds
 */
export const stockEventOf = (row: VariantStock, because: { readonly orderId?: string; readonly at: number }): LiveEvent => ({
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

/** Prefixes of audited actions that operators' screens show. */
const operatorActions = ['kyb.', 'lending.', 'lending_document.'] as const
const operatorEventNames: Readonly<Record<string, string>> = {
  'shop.created': 'shop.created',
  'shop.suspended': 'shop.suspended',
  'shop.restored': 'shop.restored',
  'shop.verified': 'shop.verified',
  'shop.went_live': 'shop.went_live',
  'merchant.created': 'merchant.created',
  'job.requested': 'job.requested',
  'processor.isolated': 'breaker.isolated',
  'processor.restored': 'breaker.restored',
}
/** Reads change nothing that a screen shows. */
const isRead = (action: string): boolean => action.endsWith('.read')

/** Returns the operators' event of an audit row; undefined for other actions. */
export function operatorEventOf({
  action,
  subject,
  shopId,
  at,
}: Pick<AuditRow, 'action' | 'subject' | 'shopId' | 'at'>): LiveEvent | undefined {
  const isShownToOperators = operatorActions.some((prefix) => action.startsWith(prefix)) && !isRead(action)
  const name = operatorEventNames[action] ?? (isShownToOperators ? action : undefined)
  if (name === undefined) return undefined
  return { name, shopId: null, audience: 'operators', data: { subject, shopId, at: new Date(at).toISOString() } }
}

/** Events about the shop itself, named like audited actions. */
export const shopEventNames = ['shop.changed', 'shop.verified', 'shop.went_live', 'shop.suspended', 'shop.restored'] as const

/** Returns the shop's event of an audit row; undefined for other actions. */
export function shopEventOf({ action, subject, at }: Pick<AuditRow, 'action' | 'subject' | 'at'>): LiveEvent | undefined {
  const name = shopEventNames.find((one) => one === action)
  return name && { name, shopId: subject, audience: 'orders', data: { shopId: subject, at: new Date(at).toISOString() } }
}

/** Returns the variant of a manual stock change. */
export const changedVariantOf = ({ action, subject }: Pick<AuditRow, 'action' | 'subject'>): string | undefined =>
  action === 'variant.stock_changed' ? subject : undefined

/** Returns the suspended shop, whose streams must be authorised again. */
export const suspendedShopOf = ({ action, subject }: Pick<AuditRow, 'action' | 'subject'>): string | undefined =>
  action === 'shop.suspended' ? subject : undefined

const staffActions: readonly string[] = ['staff.changed', 'staff.removed']
/** Returns the shop in which a member's role changed or ended. */
export const shopOfStaffChange = ({ action, shopId }: Pick<AuditRow, 'action' | 'shopId'>): string | undefined =>
  staffActions.includes(action) ? (shopId ?? undefined) : undefined

/** Rows with this name are not sent themselves: they announce stock changes of an order's lines. */
export const stockOfOrder = 'stock.of_order'

/** Converts a stored announcement. Without a shop it is for operators. */
export const eventOfRow = ({ name, shopId, data, at }: Pick<LiveRow, 'name' | 'shopId' | 'data' | 'at'>): LiveEvent => ({
  name,
  shopId,
  audience: shopId === null ? 'operators' : 'catalog',
  data: { ...data, at: new Date(at).toISOString() },
})

/** Returns the operators' event with the number of sales since the last one. */
export const salesEventOf = (count: number, at: number): LiveEvent => ({
  name: 'order.confirmed',
  shopId: null,
  audience: 'operators',
  data: { count, at: new Date(at).toISOString() },
})
