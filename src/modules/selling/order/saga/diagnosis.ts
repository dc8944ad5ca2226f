/** Explains an order to an operator: what happened, which processor is asked, what comes next. No personal data. */
import type { Deps } from '../../../../core/deps.ts'
import { OperatorError } from '../../../../core/errors.ts'
import { isLeaseOver } from '../../../../core/leases.ts'
import { type Money, moneyOf } from '../../../../lib/money.ts'
import { isoTimes, pick } from '../../../../lib/objects.ts'
import type { Payment } from '../../../payments/payment/domain.ts'
import type { Order, OrderEvent, Refund } from '../domain.ts'
import { createOrderStore } from '../store.ts'
import type { FullOrder } from '../view.ts'
import { diagnosisStore } from './diagnosis-store.ts'
import { type ExplainedStep, reasonOf, stepsOf } from './saga-explanation.ts'

type DiagnosisDeps = Pick<Deps, 'db' | 'clock'>
const storeOf = ({ db }: DiagnosisDeps) => createOrderStore(db, () => undefined, { order: () => undefined, refund: () => undefined })

/**
 * Collects all that is stored about an order, without personal data.
 * @param which its id, or its number and the name of its shop
 * @throws OperatorError if there is no such order
 */
export async function diagnoseOrder(deps: DiagnosisDeps, which: { id: string } | { number: number; shopName: string }) {
  const now = deps.clock.now()
  const { read } = deps.db
  const id = 'id' in which ? which.id : await idOf(deps, which)
  const fullOrder = await storeOf(deps).loadFullOrder(id)
  if (!fullOrder) throw new OperatorError('Order not found')
  const { order, payments, refunds, disputes, fulfilments, events } = fullOrder
  const { currency } = order
  const references = payments.flatMap(({ processorReference, references: more }) => [
    ...(processorReference === null ? [] : [processorReference]),
    ...Object.values(more),
  ])
  const [shopName, messages, deliveries] = await Promise.all([
    diagnosisStore.shopName(read, order.shopId),
    diagnosisStore.messagesAbout(read, { ids: payments.map((payment) => payment.id), references, since: order.createdAt - clocksDifferMs }),
    diagnosisStore.deliveriesOf(read, keysOf(fullOrder)),
  ])
  return {
    ...pick(order, 'id', 'number'),
    shop: { id: order.shopId, name: shopName ?? null },
    ...pick(order, 'mode', 'status', 'paymentStatus', 'fulfilmentStatus', 'holds', 'customerId', 'attempts'),
    ...moneyOf(order, 'total', 'amountDue', 'capturedTotal', 'refundedTotal', 'giftCardTotal', 'giftCardRefundedTotal'),
    ...isoTimes(pick(order, 'createdAt', 'updatedAt', 'expiresAt', 'confirmedAt', 'fulfilledAt', 'resumeAt')),
    payments: payments.map((payment) => paymentReport(payment, now)),
    refunds: refunds.map((refund) => refundReport(refund, now)),
    disputes: disputes.map((dispute) => ({
      ...pick(dispute, 'id', 'paymentId', 'reference', 'status'),
      ...moneyOf(dispute, 'amount'),
      ...isoTimes(pick(dispute, 'createdAt', 'updatedAt')),
    })),
    parcels: fulfilments.map(({ lines, ...parcel }) => ({
      ...pick(parcel, 'id', 'version'),
      units: lines.reduce((sum, { quantity }) => sum + quantity, 0),
      ...isoTimes(pick(parcel, 'createdAt', 'updatedAt')),
    })),
    messages: messages.map(({ dispute, ...message }) => ({
      ...pick(message, 'id', 'processor', 'messageId', 'paymentId', 'reference', 'attempts'),
      about: dispute === null ? ('payment' as const) : ('dispute' as const),
      ...isoTimes(pick(message, 'receivedAt', 'resumeAt')),
    })),
    webhooks: deliveries.map((delivery) => ({
      ...pick(delivery, 'id', 'endpointId', 'event', 'status', 'attempts', 'lastStatus', 'lastError'),
      ...isoTimes({ createdAt: delivery.createdAt, nextAt: delivery.status === 'PENDING' ? delivery.nextAt : null }),
    })),
    events: events.map((event) => eventReport(event, currency)),
    why: reasonOf(fullOrder, now) ?? null,
    next: stepsOf(fullOrder, now).map(stepReport),
  }
}
export type OrderDiagnosis = Awaited<ReturnType<typeof diagnoseOrder>>

/** The most that the clocks of two processes may differ. */
const clocksDifferMs = 60 * 60_000

async function idOf({ db }: DiagnosisDeps, { number, shopName }: { number: number; shopName: string }): Promise<string> {
  const id = await diagnosisStore.orderByNumber(db.read, shopName, number)
  if (id !== undefined) return id
  if (!(await diagnosisStore.hasShop(db.read, shopName))) throw new OperatorError('Shop not found')
  throw new OperatorError('The shop has no order with this number')
}

const stepReport = ({ what, at }: ExplainedStep) => ({ what, ...isoTimes({ at }) })

/** The end of a running call to a processor; null without one. */
const askedUntil = ({ leaseUntil }: { readonly leaseUntil: number | null }, now: number): number | null =>
  leaseUntil === null || isLeaseOver(leaseUntil, now) ? null : leaseUntil

/** A payment with its references at the processor, without what the shopper's page may know. */
const paymentReport = (payment: Payment, now: number) => ({
  ...pick(payment, 'id', 'method', 'processor'),
  account: payment.accountId === '' ? 'of the instance' : payment.accountId,
  ...pick(payment, 'mode', 'status'),
  failureCode: payment.failureCode === null ? null : wordOf(payment.failureCode),
  ...moneyOf(payment, 'amount', 'authorized', 'captured', 'refunded'),
  processorReference: payment.processorReference,
  references: payment.references,
  ...isoTimes(pick(payment, 'createdAt', 'updatedAt', 'sentAt', 'askedAt', 'endedAt', 'askAt')),
  ...isoTimes({ askedUntil: askedUntil(payment, now) }),
})

const refundReport = (refund: Refund, now: number) => ({
  ...pick(refund, 'id', 'paymentId', 'processor', 'processorReference', 'purpose', 'status', 'attempts', 'actor'),
  failureCode: refund.failureCode === null ? null : wordOf(refund.failureCode),
  ...moneyOf(refund, 'amount', 'giftCardAmount'),
  ...isoTimes(pick(refund, 'createdAt', 'updatedAt', 'sentAt', 'resumeAt')),
  ...isoTimes({ askedUntil: askedUntil(refund, now) }),
})

/** Details without personal data. Reasons and tracking numbers are not among them. */
const publicDetails: ReadonlySet<string> = new Set([
  ...['payment', 'processor', 'instead', 'refund', 'dispute', 'fulfilment', 'return', 'code', 'currency'],
  ...['amount', 'total', 'told'],
])
const hidden = '[not shown]'
const wordOf = (text: string): string => (/^[\w.:/-]{1,100}$/.test(text) ? text : hidden)

function eventReport({ type, at, actor, detail }: OrderEvent, currency: string) {
  const reportDetail = (name: string, value: string | number): string | Money => {
    if (!publicDetails.has(name)) return hidden
    return typeof value === 'number' ? { amount: value, currency } : wordOf(value)
  }
  const entries = Object.entries(detail).map(([name, value]) => [name, reportDetail(name, value)] as const)
  return { ...isoTimes({ at }), type, actor, detail: Object.fromEntries(entries) }
}

/** The outbox keys of an order's webhooks. */
function keysOf({ order: { id, version }, refunds, disputes, fulfilments }: FullOrder): string[] {
  const ofOrder = ['confirmed', 'cancelled', 'fulfilled'].map((event) => `order.${event}:${id}`)
  const ofCorrections = Array.from({ length: version - 1 }, (_, nth) => `order.updated:${id}:${nth + 2}`)
  const ofRefunds = refunds.flatMap((refund) => [
    `order.refunded:${refund.id}`,
    `order.refunded:${refund.id}:settled`,
    `order.refund_claimable:${refund.id}`,
    `order.refund_manual:${refund.id}`,
  ])
  const ofDisputes = disputes.flatMap((dispute) => ['OPEN', 'WON', 'LOST'].map((status) => `order.disputed:${dispute.id}:${status}`))
  const ofParcels = fulfilments.flatMap(({ id: parcel, version }) => [
    `order.partially_fulfilled:${parcel}`,
    ...Array.from({ length: version - 1 }, (_, nth) => `order.fulfilment_updated:${parcel}:${nth + 2}`),
  ])
  return [...ofOrder, ...ofCorrections, ...ofRefunds, ...ofDisputes, ...ofParcels]
}

/** An unfinished order. `since`: its last event. */
export type StuckOrder = Pick<Order, 'id' | 'number' | 'shopId' | 'status'> & {
  readonly since: string
  readonly attempts: number
  readonly why: string
  readonly next: readonly { readonly what: string; readonly at: string | null }[]
}

/**
 * Lists unfinished orders without an event for a while, the longest first.
 * @param limit the most to list, of `total`
 */
export async function stuckOrders(
  deps: DiagnosisDeps,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
): Promise<{ total: number; orders: StuckOrder[] }> {
  const now = deps.clock.now()
  const store = storeOf(deps)
  const found = await diagnosisStore.unfinished(deps.db.read, now - olderThanMs, limit)
  const orders: StuckOrder[] = []
  for (const { id, since } of found) {
    const fullOrder = await store.loadFullOrder(id)
    if (!fullOrder) continue
    const { order } = fullOrder
    orders.push({
      ...pick(order, 'id', 'number', 'shopId', 'status'),
      since: new Date(Number(since)).toISOString(),
      attempts: order.attempts,
      why: reasonOf(fullOrder, now) ?? 'in progress',
      next: stepsOf(fullOrder, now).map(stepReport),
    })
  }
  return { total: Number(found[0]?.total ?? 0), orders }
}
