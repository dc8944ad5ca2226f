import type { Writer } from '../../../db/engine.ts'
import type { Processor } from '../../clients/processors/processor.ts'
import { AppError } from '../../core/errors.ts'
import type { Keep } from '../../core/idempotency.ts'
import { type Page, pageOf, type Slice } from '../../lib/page.ts'
import { type Actor, audit, system } from '../audit/service.ts'
import { prepareMessage } from '../webhook/service.ts'
import { eventOf, type OrderDeps } from './deps.ts'
import {
  type Order,
  type OrderStatus,
  type OrderView,
  orderStatuses,
  orderView,
  type Payment,
  type RefundView,
  refundView,
  refundWindowMs,
  withoutReasons,
} from './domain.ts'
import { noteWhatBecame } from './payments.ts'
import { beginRefund, cancelledMessage, isCancelling, type RefundRequest, settleRefund } from './refunds.ts'
import { compensate, completeOrder } from './saga.ts'

export type { OrderDeps } from './deps.ts'
export { newPayment, type PaymentChoice, type Purchase, payAgain, placeOrder } from './placing.ts'
export { completeOrder } from './saga.ts'

const noSuchOrder = () => new AppError('NOT_FOUND', 'No such order')

/** Who asks for orders: a shop sees its own, a customer theirs. */
export type OrderReader = { shopId: string; customerId?: string | undefined }

/** @throws AppError NOT_FOUND, also for somebody else's */
export async function readOrder({ orderStore }: OrderDeps, { shopId, customerId }: OrderReader, id: string): Promise<OrderView> {
  const whole = await orderStore.whole(id)
  if (!whole || whole.order.shopId !== shopId) throw noSuchOrder()
  if (customerId === undefined) return orderView(whole)
  if (whole.order.customerId !== customerId) throw noSuchOrder()
  return withoutReasons(orderView(whole))
}

/** The shop's orders, newest first. */
export async function listOrders(
  { orderStore }: OrderDeps,
  filter: { shopId: string; status?: OrderStatus | undefined; customerId?: string | undefined },
  slice: Slice,
): Promise<Page<OrderView>> {
  const { ids, total } = await orderStore.list(filter, slice)
  const found = await Promise.all(ids.map((id) => orderStore.whole(id)))
  return pageOf(
    found.flatMap((whole) => (whole ? [orderView(whole)] : [])),
    total,
    slice,
  )
}

/**
 * Gives money back. When the processor does not answer, the refund stays PENDING and the job asks again.
 * @throws AppError NOT_FOUND; CONFLICT when there is not that much left, or the order is in no state for it
 */
export async function refundOrder(deps: OrderDeps, request: RefundRequest, keep?: Keep): Promise<RefundView> {
  const begun = await beginRefund(deps, request, 'REFUND')
  let kept = false
  const settled = await settleRefund(
    deps,
    begun.id,
    async (tx, answer) => {
      kept = true
      await keep?.(tx, answer)
    },
    refundView,
  )
  const view = refundView(settled)
  if (!kept && keep) await deps.db.write((tx) => keep(tx, view))
  return view
}

/** What is done to an order on somebody's request. */
export type OrderRequest = {
  shopId: string
  orderId: string
  actor: Actor
  keep?: Keep | undefined
  /** The same request was begun before, and vanished: if what it asks for is done, that is the answer. */
  resumed?: boolean | undefined
}

/**
 * Cancels an order: one that nobody paid at once, a paid one with its money.
 * @throws AppError NOT_FOUND, CONFLICT when it was sent, has ended, or its refund was refused
 */
export async function cancelOrder(deps: OrderDeps, { reason, attemptKey, ...request }: CancelRequest): Promise<OrderView> {
  const order = await ownOrder(deps, request)
  const isDone = order.status === 'CANCELLED' || order.status === 'COMPENSATING'
  if (!(request.resumed && isDone)) await beginCancel(deps, order, { reason, attemptKey, ...request })
  await completeOrder(deps, order.id)
  return answered(deps, request)
}

type CancelRequest = OrderRequest & { reason: string | undefined; attemptKey: string }

async function beginCancel(deps: OrderDeps, order: Order, { reason, attemptKey, ...request }: CancelRequest): Promise<void> {
  switch (order.status) {
    case 'PENDING_PAYMENT':
      await endUnpaid(deps, order, 'CANCELLED', request.actor, reason ?? null)
      break
    case 'PAID':
      if (!(await compensate(deps, order, request.actor, reason ?? null))) throw changedMeanwhile()
      break
    case 'CONFIRMED': {
      const { shopId, orderId, actor } = request
      const begun = await beginRefund(deps, { shopId, orderId, actor, reason, amount: undefined, attemptKey }, 'CANCEL')
      const { status } = await settleRefund(deps, begun.id)
      if (status === 'FAILED') throw new AppError('CONFLICT', 'The payment processor refused to refund the order: it stays as it is')
      break
    }
    default:
      throw new AppError('CONFLICT', `An order that is ${order.status} cannot be cancelled`)
  }
}

const changedMeanwhile = () => new AppError('CONFLICT', 'The order changed meanwhile: look at it again')

async function ownOrder({ orderStore }: OrderDeps, { shopId, orderId }: Pick<OrderRequest, 'shopId' | 'orderId'>): Promise<Order> {
  const order = await orderStore.find(orderId)
  if (order?.shopId !== shopId) throw noSuchOrder()
  return order
}

/** The order as it is now, kept as the answer of an idempotent request. */
async function answered(deps: OrderDeps, { shopId, orderId, keep }: OrderRequest): Promise<OrderView> {
  const view = await readOrder(deps, { shopId }, orderId)
  if (keep) await deps.db.write((tx) => keep(tx, view))
  return view
}

/** Ends an order that was not paid; what it held goes back by its saga. @throws AppError CONFLICT */
async function endUnpaid(
  deps: OrderDeps,
  { id, shopId }: Order,
  status: 'CANCELLED' | 'EXPIRED',
  actor: Actor,
  reason: string | null,
): Promise<void> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  const event = eventOf(deps, id, status, reason === null ? {} : { reason }, actor.id)
  const record = audit(deps, actor, { action: `order.${status.toLowerCase()}`, subject: id, shopId })
  await deps.db.write(async (tx) => {
    const order = await store.change(tx, id, ['PENDING_PAYMENT'], { status, resumeAt: now, updatedAt: now })
    // Nobody asked for it to expire: it was paid or ended meanwhile.
    if (!order && status === 'EXPIRED') return
    if (!order) throw changedMeanwhile()
    await store.appendEvent(tx, event)
    if (status === 'EXPIRED') return
    await cancelledMessage(deps, order, reason)(tx)
    await record(tx)
  })
}

/**
 * Notes that an order was sent.
 * @throws AppError NOT_FOUND, CONFLICT unless it is CONFIRMED and not being cancelled
 */
export async function fulfilOrder(
  deps: OrderDeps,
  { shopId, orderId, actor, keep, resumed }: OrderRequest,
  { trackingNumber, carrier }: { trackingNumber: string | undefined; carrier: string | undefined },
): Promise<OrderView> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  const { number, status } = await ownOrder(deps, { shopId, orderId })
  if (resumed && status === 'FULFILLED') return answered(deps, { shopId, orderId, actor, keep })
  const tracking = { ...(trackingNumber === undefined ? {} : { trackingNumber }), ...(carrier === undefined ? {} : { carrier }) }
  const event = eventOf(deps, orderId, 'FULFILLED', tracking, actor.id)
  const record = audit(deps, actor, { action: 'order.fulfilled', subject: orderId, shopId })
  const message = prepareMessage(deps, {
    shopId,
    event: 'order.fulfilled',
    key: `order.fulfilled:${orderId}`,
    data: { orderId, number, trackingNumber: trackingNumber ?? null, carrier: carrier ?? null },
    held: false,
  })
  await deps.db.write(async (tx) => {
    if ((await store.refundsOf(tx, orderId)).some(isCancelling)) throw new AppError('CONFLICT', 'The order is being cancelled')
    const change = { status: 'FULFILLED', fulfilmentStatus: 'FULFILLED', ...tracking, fulfilledAt: now, updatedAt: now } as const
    if (!(await store.change(tx, orderId, ['CONFIRMED'], change)))
      throw new AppError('CONFLICT', 'Only an order that is CONFIRMED can be fulfilled')
    await store.appendEvent(tx, event)
    await message(tx)
    await record(tx)
  })
  return answered(deps, { shopId, orderId, actor, keep })
}

/**
 * A processor says that something became of a payment. It is asked what, and the order goes on from there.
 * One that is about no payment of ours is ignored.
 */
export async function noteMessage(
  deps: OrderDeps,
  processor: Processor,
  name: { paymentId: string; reference: string | undefined },
): Promise<void> {
  const { orderStore: store } = deps
  const byReference = name.reference === undefined ? undefined : await store.findPaymentByReference(processor.name, name.reference)
  const payment = byReference ?? (await store.findPayment(name.paymentId))
  if (payment?.processor !== processor.name) return
  await noteWhatBecame(deps, processor, payment)
  await completeOrder(deps, payment.orderId)
}

const jobBatch = 100
/** Of one run: what is left then comes with the next. */
const batchesMax = 100
/** What failed for a reason that nobody foresaw is left alone for so long, so that it does not hold up the others. */
const afterFailureMs = 5 * 60 * 1000

/** Takes on what was left half-done: by a crash, or by a processor that did not answer. Returns how much there was. */
export async function resumeOrders(deps: OrderDeps, dueBy = deps.clock.now()): Promise<number> {
  const { orderStore: store } = deps
  const [refunds, orders] = await Promise.all([store.refundsToResume(dueBy, jobBatch), store.toResume(dueBy, jobBatch)])
  for (const id of refunds) {
    await attempt(
      deps,
      id,
      async () => {
        const { orderId } = await settleRefund(deps, id)
        await completeOrder(deps, orderId)
      },
      (tx, resumeAt) => store.changeRefund(tx, id, { resumeAt }),
    )
  }
  for (const id of orders) {
    await attempt(
      deps,
      id,
      () => completeOrder(deps, id),
      (tx, resumeAt) => store.change(tx, id, orderStatuses, { resumeAt }),
    )
  }
  return refunds.length + orders.length
}

/** One that fails must not hold up the others, now or at the next run. */
async function attempt(
  deps: OrderDeps,
  id: string,
  run: () => Promise<unknown>,
  putOff?: (tx: Writer, resumeAt: number) => Promise<unknown>,
): Promise<void> {
  try {
    await run()
  } catch (error) {
    deps.log.error('order.not_resumed', { id, error })
    const resumeAt = deps.clock.now() + afterFailureMs
    if (putOff) await deps.db.write(async (tx) => void (await putOff(tx, resumeAt)))
  }
}

/** Ends the orders that nobody paid in time. */
export async function expireOrders(deps: OrderDeps): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const due = await deps.orderStore.toExpire(deps.clock.now(), jobBatch)
    for (const id of due) {
      // The money may be there already, and nobody has told us. Whatever comes of it, the order's time is over.
      await attempt(deps, id, () => completeOrder(deps, id))
      await attempt(deps, id, () => expireOrder(deps, id))
    }
    if (due.length < jobBatch) return
  }
}

async function expireOrder(deps: OrderDeps, id: string): Promise<void> {
  const order = await deps.orderStore.find(id)
  if (order?.status !== 'PENDING_PAYMENT') return
  await endUnpaid(deps, order, 'EXPIRED', system, null)
  await completeOrder(deps, id)
}

/** Orders that were sent are complete once the refund window has passed. */
export async function completeFulfilled(deps: OrderDeps): Promise<void> {
  const { orderStore: store } = deps
  const now = deps.clock.now()
  for (let batch = 0; batch < batchesMax; batch++) {
    const due = await store.toComplete(now - refundWindowMs, jobBatch)
    const events = due.map((id) => eventOf(deps, id, 'COMPLETED'))
    await deps.db.write(async (tx) => {
      for (const event of events)
        if (await store.change(tx, event.orderId, ['FULFILLED'], { status: 'COMPLETED', updatedAt: now }))
          await store.appendEvent(tx, event)
    })
    if (due.length < jobBatch) return
  }
}

/** The order that a cart became. */
export const orderOfCart = ({ orderStore }: OrderDeps, cartId: string): Promise<Order | undefined> => orderStore.findByCart(cartId)

/** All payments that were begun for an order, oldest first. */
export const paymentsOf = ({ orderStore }: OrderDeps, orderId: string): Promise<Payment[]> => orderStore.payments(orderId)
