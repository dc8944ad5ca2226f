import type { Writer } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import type { Money } from '../../../lib/money.ts'
import type { Optional } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { enqueueMessage } from '../../messaging/webhook/index.ts'
import { audit } from '../../operations/audit/index.ts'
import { isOpenPayment } from '../../payments/payment/domain.ts'
import { paymentsWithin } from '../../payments/payment/index.ts'
import { endedPaymentStatus, type Fulfilment, filterOf, type Order, refundWindowMs, type ShopOrderQuery, trackingOf } from './domain.ts'
import { appendEvent } from './events.ts'
import { fulfilmentEventDetail, fulfilmentMessage, linesToFulfil, notifyFulfilled, versioned } from './fulfilment/fulfilments.ts'
import { type FulfilledLine, unitsOf } from './fulfilment/units.ts'
import { listOrderOf } from './listing.ts'
import { mailShipped, shipmentOf } from './mails.ts'
import type { OrderDeps } from './providers.ts'
import { notifyCancelled } from './refunds/refund-effects.ts'
import type { RefundLineRequest, RefundScope } from './refunds/refund-lines.ts'
import { isCancelling, type RefundRequest, requestRefund } from './refunds/refund-requests.ts'
import { refundExcess, settleRefund } from './refunds/refunds.ts'
import { releaseHolds } from './saga/confirm-order.ts'
import { captureManualPayment } from './saga/order-payments.ts'
import { compensate, runSaga } from './saga/saga.ts'
import { requestSagaContext, type SagaContext } from './saga/saga-context.ts'
import { reindexOrder } from './search/search-index.ts'
import { findingStore } from './search/search-store.ts'
import type { RefundFilter } from './store.ts'
import { type FulfilmentView, type FullOrder, type OrderView, orderView, type RefundView, refundView, withoutReasons } from './view.ts'

/** Creates the error for a missing order. It is the same for another shop's, so that it reveals nothing. */
export const noSuchOrder = () => new AppError('NOT_FOUND', 'No such order')

/** A shop reads its own orders, a customer theirs. */
type OrderReader = { shopId: string; customerId?: string | undefined }

/**
 * Reads an order with its version.
 * @throws AppError NOT_FOUND, also for another shop's or customer's
 */
export async function readOrder(
  { orderStore, orderLinks }: OrderDeps,
  { shopId, customerId }: OrderReader,
  id: string,
): Promise<OrderView & { version: number }> {
  const [fullOrder, { urlOf }] = await Promise.all([orderStore.loadFullOrder(id), orderLinks.ready()])
  if (!fullOrder || fullOrder.order.shopId !== shopId) throw noSuchOrder()
  const { version } = fullOrder.order
  if (customerId === undefined) return { ...orderView(fullOrder, urlOf(id)), version }
  if (fullOrder.order.customerId !== customerId) throw noSuchOrder()
  return { ...withoutReasons(orderView(fullOrder, urlOf(id))), version }
}

/**
 * Lists a shop's orders by number, newest first.
 * @throws AppError INVALID for invalid or too many days
 */
export async function listOrders(
  { db, orderStore, orderLinks }: OrderDeps,
  query: ShopOrderQuery,
  slice: PageSlice,
): Promise<Page<OrderView> & { totalCapped?: true }> {
  const { ids, total, isCapped } = await findingStore.list(db.read, filterOf(query), slice, listOrderOf(query.sort))
  const { urlOf } = await orderLinks.ready()
  const found = await Promise.all(ids.map((id) => orderStore.loadFullOrder(id)))
  const page = pageOf(
    found.flatMap((fullOrder) => (fullOrder ? [orderView(fullOrder, urlOf(fullOrder.order.id))] : [])),
    total,
    slice,
  )
  return isCapped ? { ...page, totalCapped: true } : page
}

/**
 * Reads a refund of an order.
 * @throws AppError NOT_FOUND, also for another shop's or another order's
 */
export async function readRefund(
  deps: OrderDeps,
  { shopId, orderId, refundId }: { shopId: string; orderId: string; refundId: string },
): Promise<RefundView> {
  await ownOrder(deps, { shopId, orderId })
  const refund = await deps.orderStore.findRefund(deps.db.read, refundId)
  if (refund?.orderId !== orderId) throw new AppError('NOT_FOUND', 'No such refund')
  return refundView(refund)
}

/** Lists a shop's refunds, newest first. */
export async function listRefunds(
  { orderStore }: OrderDeps,
  filter: RefundFilter,
  slice: PageSlice,
): Promise<Page<RefundView & { orderNumber: number }>> {
  const { rows, total, numbers } = await orderStore.listRefunds(filter, slice)
  const data = rows.map((row) => ({ ...refundView(row), orderNumber: numbers.get(row.orderId) ?? 0 }))
  return pageOf(data, total, slice)
}

/**
 * Refunds money. If the processor does not answer, the refund stays PENDING and the job asks again.
 * @throws AppError NOT_FOUND; INVALID for another currency, an unknown line, or unless exactly one of `amount`,
 *   `lines` and `all` is given; CONFLICT when less is left, or the order's status forbids it
 */
export async function refundOrder(
  deps: OrderDeps,
  { amount, lines, all, refundableTotal: expectedTotal, ...request }: Omit<RefundRequest, 'scope' | 'expectedTotal'> & RefundInput,
): Promise<RefundView> {
  const scope = refundScopeOf({ amount, lines, all })
  const { currency } = await ownOrder(deps, request)
  for (const [name, money] of Object.entries({ amount, refundableTotal: expectedTotal }))
    if (money && money.currency !== currency) throw invalidField(`${name}.currency`, 'must be the currency of the order')
  const { refund, isNew } = await requestRefund(deps, { ...request, scope, expectedTotal: expectedTotal?.amount }, 'REFUND')
  return refundView(await settleRefund(deps, refund.id, requestSagaContext(deps, request.attemptKey), { isNew }))
}

/** A refund request: exactly one of the first three. */
type RefundInput = Optional<{
  amount: Money
  lines: WithOptional<RefundLineRequest, 'restock'>[]
  all: true
  refundableTotal: Money
}>
type WithOptional<Of, Field extends keyof Of> = Omit<Of, Field> & Optional<Pick<Of, Field>>

/** A missing or misspelt field must not refund a whole order. */
function refundScopeOf({ amount, lines, all }: Omit<RefundInput, 'refundableTotal'>): RefundScope {
  const scopes = [amount, lines, all].filter((one) => one !== undefined)
  if (scopes.length !== 1) throw new AppError('INVALID', 'body: send exactly one of amount, lines and all')
  if (amount) return { amount: amount.amount }
  return lines ? { lines: lines.map(({ restock = false, ...line }) => ({ ...line, restock })) } : { all: true }
}

/** A command on an order. */
export type OrderRequest = {
  shopId: string
  orderId: string
  actor: Actor
  /** The attempt of an idempotent request. A retry whose work is done returns that result. */
  attempt: Attempt
}

/**
 * Cancels an order, and refunds it if it was paid. A processor that does not answer is awaited no longer than a request
 * may take; the job continues.
 * @throws AppError NOT_FOUND; CONFLICT when it was sent, has ended, or its refund was refused
 */
export async function cancelOrder(deps: OrderDeps, request: CancelRequest): Promise<OrderView> {
  const order = await ownOrder(deps, request)
  const isDone = ({ status }: Order) => status === 'CANCELLED' || status === 'COMPENSATING'
  const context = requestSagaContext(deps, request.attempt.key)
  await beginCancel(deps, order, request, context).catch(async (error: unknown) => {
    // An earlier attempt with the key may have cancelled it, even after the order was read.
    if (!(request.attempt.isResumed && isDone(await ownOrder(deps, request)))) throw error
  })
  await runSaga(deps, order.id, context)
  return readOrder(deps, request, order.id)
}

/**
 * Marks an order as paid that the shopper pays outside souk. It becomes a sale, as if a processor had captured it.
 * @throws AppError NOT_FOUND; CONFLICT unless it awaits a manual payment
 */
export async function markOrderPaid(deps: OrderDeps, request: OrderRequest & { reference: string | undefined }): Promise<OrderView> {
  const { id } = await ownOrder(deps, request)
  await captureManualPayment(deps, id, request, requestSagaContext(deps, request.attempt.key))
  return readOrder(deps, request, id)
}

type CancelRequest = OrderRequest & { reason: string | undefined }

async function beginCancel(
  deps: OrderDeps,
  order: Order,
  { reason, attempt, shopId, orderId, actor }: CancelRequest,
  context: SagaContext,
): Promise<void> {
  switch (order.status) {
    case 'PENDING_PAYMENT':
      await endUnpaid(deps, order, { status: 'CANCELLED', actor, reason: reason ?? null, context })
      break
    case 'PAID':
      if (!(await compensate(deps, order, { actor, reason: reason ?? null, context }))) throw orderChangedConflict()
      break
    case 'CONFIRMED': {
      const request = { shopId, orderId, actor, reason, scope: { all: true } as const, attemptKey: attempt.key }
      const begun = await requestRefund(deps, request, 'CANCEL')
      if (!begun) break
      const { refund, isNew } = begun
      const { status } = await settleRefund(deps, refund.id, context, { isNew })
      if (status === 'FAILED')
        throw new AppError('CONFLICT', 'The payment processor declined the refund, so the order was not cancelled', {
          code: 'refund_declined',
        })
      break
    }
    default:
      throw new AppError('CONFLICT', `An order that is ${order.status} cannot be cancelled`, { code: 'invalid_transition' })
  }
}

const orderChangedConflict = () =>
  new AppError('CONFLICT', 'The order was changed by another request. Read it again', { code: 'order_changed' })

async function ownOrder({ orderStore }: OrderDeps, { shopId, orderId }: Pick<OrderRequest, 'shopId' | 'orderId'>): Promise<Order> {
  const order = await orderStore.find(orderId)
  if (order?.shopId !== shopId) throw noSuchOrder()
  return order
}

type UnpaidEnd = { status: 'CANCELLED' | 'EXPIRED'; actor: Actor; reason: string | null; context: SagaContext }

/**
 * Ends an unpaid order. Its holds are released at once, or by its saga after an open payment is voided. Partial
 * captures are refunded.
 * @throws AppError CONFLICT if it changed meanwhile
 */
export async function endUnpaid(deps: OrderDeps, { id, shopId }: Order, { status, actor, reason, context }: UnpaidEnd): Promise<void> {
  const { orderStore: store } = deps
  const { holder } = context
  const refunds = await deps.db.write(async (tx) => {
    const now = deps.clock.now()
    const found = await store.lock(tx, id)
    if (status === 'EXPIRED' && (!found || found.expiresAt > now)) return []
    const order = await store.move(tx, id, ['PENDING_PAYMENT'], status, { attempts: 0, resumeAt: now, updatedAt: now })
    // It was paid or ended meanwhile, and no caller waits.
    if (!order && status === 'EXPIRED') return []
    if (!order) throw orderChangedConflict()
    await appendEvent(tx, deps, { orderId: id, type: status, detail: reason === null ? {} : { reason }, actor: actor.id })
    const payments = await paymentsWithin(tx, deps, id)
    const begun = await refundExcess(tx, deps, { order, payments }, holder)
    const statusChange = endedPaymentStatus(order, payments)
    if (statusChange) await store.change(tx, id, [status], { ...statusChange, updatedAt: now })
    if (!payments.some(isOpenPayment)) await releaseHolds(tx, deps, order)
    if (status === 'EXPIRED') return begun
    await notifyCancelled(tx, deps, { order, reason })
    const difference = { before: { status: 'PENDING_PAYMENT' }, after: { status } }
    await audit(tx, deps, { actor, action: 'order.cancelled', subject: id, shopId, ...difference })
    return begun
  }, locking)
  for (const refund of refunds) await settleRefund(deps, refund.id, context, { isNew: true })
}

/** What is sent together. `lines`: undefined means all that is left. */
export type Parcel = {
  readonly lines?: readonly FulfilledLine[] | undefined
  readonly trackingNumber: string | undefined
  readonly carrier: string | undefined
}

/**
 * Records that the rest of an order was sent.
 * @throws AppError NOT_FOUND; CONFLICT unless it is CONFIRMED, not being cancelled, and has unsent units
 */
export async function fulfilOrder(deps: OrderDeps, request: OrderRequest, parcel: Omit<Parcel, 'lines'>): Promise<OrderView> {
  const { shopId, orderId, attempt } = request
  const { status } = await ownOrder(deps, request)
  if (!(attempt.isResumed && status === 'FULFILLED')) await sendParcel(deps, request, parcel)
  return readOrder(deps, { shopId }, orderId)
}

/**
 * Records that part of an order was sent, or all that was left.
 * @returns the fulfilment with its version
 * @throws AppError as `fulfilOrder`; INVALID for an unknown or repeated line; CONFLICT for more units than are left
 */
export const createFulfilment = async (
  deps: OrderDeps,
  request: OrderRequest,
  parcel: Parcel,
): Promise<FulfilmentView & { version: number }> => versioned((await sendParcel(deps, request, parcel)).parcel)

/**
 * Records a fulfilment in one write. A resumed attempt that has recorded it returns it.
 * @throws AppError as `createFulfilment`
 */
export async function sendParcel(
  deps: OrderDeps,
  { shopId, orderId, actor, attempt }: OrderRequest,
  { lines: requestedLines, trackingNumber = null, carrier = null }: { [Field in keyof Parcel]: Parcel[Field] | null },
): Promise<{ parcel: Fulfilment; order: Order }> {
  const { orderStore: store, fulfilmentStore } = deps
  await ownOrder(deps, { shopId, orderId })
  return deps.db.write(async (tx) => {
    const now = deps.clock.now()
    const before = await store.lock(tx, orderId)
    if (!before) throw noSuchOrder()
    const parcels = await store.parcelsOf(tx, orderId)
    const existing = attempt.isResumed && parcels.find(({ attemptKey }) => attemptKey === attempt.key)
    if (existing) return { parcel: existing, order: before }
    const refunds = await store.refundsOf(tx, orderId)
    if (refunds.some(isCancelling)) throw new AppError('CONFLICT', 'The order is being cancelled', { code: 'refund_in_progress' })
    if (before.status !== 'CONFIRMED')
      throw new AppError('CONFLICT', 'Only a CONFIRMED order can be fulfilled', { code: 'invalid_transition' })
    const orderLines = await store.lines(orderId, tx)
    const lines = linesToFulfil(unitsOf(before, orderLines, parcels, refunds), requestedLines ?? undefined, parcels.length)
    const made = { id: deps.newId('fulfilment'), orderId, attemptKey: attempt.key, createdAt: now, updatedAt: now, version: 1 }
    const parcel: Fulfilment = { ...made, lines, trackingNumber, carrier }
    const isLast = unitsOf(before, orderLines, [...parcels, parcel], refunds).every(({ open }) => open === 0)
    const tracking = { ...trackingOf([...parcels, parcel]), updatedAt: now }
    const order = isLast
      ? await store.move(tx, orderId, ['CONFIRMED'], 'FULFILLED', { ...tracking, fulfilmentStatus: 'FULFILLED', fulfilledAt: now })
      : await store.change(tx, orderId, ['CONFIRMED'], { ...tracking, fulfilmentStatus: 'PARTIALLY_FULFILLED' })
    if (!order) throw new Error('an order that was locked has changed')
    await fulfilmentStore.insert(tx, parcel)
    if (trackingNumber !== null) await reindexOrder(tx, deps, orderId)
    const { fulfilmentStatus } = order
    await appendEvent(tx, deps, { orderId, type: fulfilmentStatus, detail: fulfilmentEventDetail(parcel), actor: actor.id })
    if (isLast) await notifyFulfilled(tx, deps, order, parcel)
    else
      await enqueueMessage(tx, deps, {
        shopId,
        event: 'order.partially_fulfilled',
        key: `order.partially_fulfilled:${parcel.id}`,
        data: { orderId, number: order.number, fulfilment: fulfilmentMessage(parcel) },
      })
    await mailShipped(tx, deps, order, shipmentOf(parcel, orderLines))
    const difference = {
      before: { status: before.status, fulfilmentStatus: before.fulfilmentStatus },
      after: { status: order.status, fulfilmentStatus, fulfilment: parcel.id },
    }
    await audit(tx, deps, {
      actor,
      action: isLast ? 'order.fulfilled' : 'order.partially_fulfilled',
      subject: orderId,
      shopId,
      ...difference,
    })
    return { parcel, order }
  }, locking)
}

const jobBatch = 100
/** Batches of one run. The next run takes the rest. */
const batchesMax = 100

/** Completes sent orders once the refund window has passed. */
export async function completeFulfilled(deps: OrderDeps): Promise<void> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  for (let batch = 0; batch < batchesMax; batch++) {
    const due = await store.toComplete(now - refundWindowMs, jobBatch)
    await deps.db.write(async (tx) => {
      // In order of their ids, like every write that locks several.
      for (const orderId of due.toSorted())
        if (await store.move(tx, orderId, ['FULFILLED'], 'COMPLETED', { updatedAt: now }))
          await appendEvent(tx, deps, { orderId, type: 'COMPLETED' })
    }, locking)
    if (due.length < jobBatch) return
  }
}

/** Finds an order of any shop. */
export const findOrder = ({ orderStore }: OrderDeps, id: string): Promise<Order | undefined> => orderStore.find(id)

/** Locks an order of any shop for the rest of a write, with its payments, refunds and returns. */
export const lockOrder = ({ orderStore }: OrderDeps, tx: Writer, id: string): Promise<Order | undefined> => orderStore.lock(tx, id)

/** Reads what was ordered, sent and refunded of an order, inside a write. */
export const goodsOf = async ({ orderStore }: OrderDeps, tx: Writer, id: string) => ({
  lines: await orderStore.lines(id, tx),
  fulfilments: await orderStore.parcelsOf(tx, id),
  refunds: await orderStore.refundsOf(tx, id),
})

/** Reads an order of any shop with all that it shows. */
export const readFullOrder = async ({ orderStore }: Pick<OrderDeps, 'orderStore'>, id: string): Promise<FullOrder | undefined> =>
  orderStore.loadFullOrder(id)

/** Finds the order of a cart that a request placed, or started a payment of. */
export const orderOfAttempt = ({ orderStore }: OrderDeps, cartId: string, attemptKey: string): Promise<Order | undefined> =>
  orderStore.findByAttempt(cartId, attemptKey)

/** Finds the last order of a cart. */
export const orderOfCart = ({ orderStore }: OrderDeps, cartId: string, tx?: Writer): Promise<Order | undefined> =>
  orderStore.findByCart(cartId, tx)

/**
 * Locks a shop's order numbers for the rest of a write, so that no order is placed, and checks that none is
 * unfinished.
 * @throws AppError CONFLICT, naming an order that awaits its payment, is not confirmed yet, or has a pending refund
 */
export async function assertAllOrdersFinished(tx: Writer, { orderStore }: Pick<OrderDeps, 'orderStore'>, shopId: string): Promise<void> {
  await orderStore.holdNumbers(tx, shopId)
  const number = await orderStore.unfinished(tx, shopId)
  if (number === undefined) return
  throw new AppError('CONFLICT', `Order ${number} is not finished. Wait until it is paid, cancelled, expired or refunded`, {
    code: 'open_orders',
  })
}
