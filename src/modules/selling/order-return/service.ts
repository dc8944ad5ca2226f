import type { Writer } from '../../../../db/engine.ts'
import { type Actor, locking, type Write } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { Attempt } from '../../../core/idempotency.ts'
import { pick } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { visibleVariantTitle } from '../../catalog/products/domain.ts'
import { restock } from '../../catalog/products/index.ts'
import { announceOrderStock } from '../../messaging/live-events/index.ts'
import { queueMail } from '../../messaging/mail/index.ts'
import { enqueueMessage } from '../../messaging/webhook/index.ts'
import { audit } from '../../operations/audit/index.ts'
import { isOpen } from '../../shop/shop/domain.ts'
import { readShop } from '../../shop/shop/index.ts'
import { isAssured, isRefundable, type Order, type OrderLine } from '../order/domain.ts'
import {
  appendEvent,
  type FullOrder,
  goodsOf,
  lockOrder,
  noSuchOrder,
  readFullOrder,
  recordRefund,
  requestSagaContext,
  restockableUnits,
  settleRefund,
  stockTrackedLines,
  unitsOf,
} from '../order/index.ts'
import {
  assertReturnable,
  type OrderReturn,
  type PublicReturn,
  publicReturnView,
  type ReturnableLine,
  type ReturnFilter,
  type ReturnLine,
  type ReturnView,
  returnableSince,
  returnableUnits,
  returnsMax,
  returnTransitions,
  returnView,
} from './domain.ts'
import type { ReturnDeps } from './providers.ts'

type OrderOfShop = { readonly shopId: string; readonly orderId: string }
type ReturnOfShop = OrderOfShop & { readonly returnId: string }
type By = { readonly actor: Actor; readonly write?: Write | undefined }

/** The rows of an order that decide what can be returned. */
type Sources = Pick<FullOrder, 'order' | 'lines' | 'fulfilments' | 'refunds'> & { readonly returns: readonly OrderReturn[] }

const returnableOf = ({ order, lines, fulfilments, refunds, returns }: Sources, since?: number): ReturnableLine[] =>
  isRefundable(order) ? returnableUnits(unitsOf(order, lines, fulfilments, refunds), fulfilments, refunds, returns, since) : noneOf(lines)
const noneOf = (lines: readonly Pick<OrderLine, 'id'>[]): ReturnableLine[] => lines.map(({ id: lineId }) => ({ lineId, quantity: 0 }))

/**
 * Lists the returns of an order, and the units that can still be returned.
 * @throws AppError NOT_FOUND
 */
export async function listReturns(
  deps: ReturnDeps,
  { shopId, orderId }: OrderOfShop,
): Promise<{ data: ReturnView[]; returnable: ReturnableLine[] }> {
  const fullOrder = await readFullOrder(deps, orderId)
  if (fullOrder?.order.shopId !== shopId) throw noSuchOrder()
  const returns = await deps.returnStore.ofOrder(deps.db.read, orderId)
  return { data: returns.map((row) => returnView(row, fullOrder.refunds)), returnable: returnableOf({ ...fullOrder, returns }) }
}

/** Lists the returns of all orders of a shop, newest first. */
export async function listShopReturns(
  { db, returnStore }: ReturnDeps,
  filter: ReturnFilter,
  slice: PageSlice,
): Promise<Page<ReturnView & { orderNumber: number }>> {
  const { rows, total, numbers, refunds } = await returnStore.list(db.read, filter, slice)
  const data = rows.map((row) => ({ ...returnView(row, refunds), orderNumber: numbers.get(row.orderId) ?? 0 }))
  return pageOf(data, total, slice)
}

/** Reads what the link of an order shows of its returns. A suspended shop takes no requests. */
export async function publicReturns(
  deps: ReturnDeps,
  fullOrder: FullOrder,
): Promise<{ returns: PublicReturn[]; returnable: ReturnableLine[] }> {
  const { lines, order } = fullOrder
  const [returns, shop] = await Promise.all([deps.returnStore.ofOrder(deps.db.read, order.id), readShop(deps, order.shopId)])
  const since = isOpen(shop) ? returnableSince(shop.returnDays, deps.clock.now()) : undefined
  const isFull = returns.length >= returnsMax
  const returnable = since === undefined || isFull ? noneOf(lines) : returnableOf({ ...fullOrder, returns }, since)
  return { returns: returns.map(publicReturnView), returnable: returnable.filter(({ quantity }) => quantity > 0) }
}

/** The requester of a return. With `customerId` the order must be that customer's. */
type Requester = By & { readonly by: OrderReturn['requestedBy']; readonly customerId?: string | undefined }

/**
 * Requests the return of units that were sent. Shoppers can for `returnDays` of the shop after a fulfilment.
 * @throws AppError NOT_FOUND; INVALID for an unknown or repeated line; CONFLICT for more units than can be returned,
 *   and one return too many
 */
export async function requestReturn(
  deps: ReturnDeps,
  { shopId, orderId }: OrderOfShop,
  { by, customerId, actor, write = deps.db.write }: Requester,
  lines: readonly ReturnLine[],
): Promise<ReturnView> {
  const { returnStore } = deps
  const shop = await readShop(deps, shopId)
  return write(async (tx) => {
    const now = deps.clock.now()
    const order = await lockOrder(deps, tx, orderId)
    if (order?.shopId !== shopId || (customerId !== undefined && order.customerId !== customerId)) throw noSuchOrder()
    const since = by === 'SHOP' ? 0 : returnableSince(shop.returnDays, now)
    if (by === 'SHOPPER' && !isOpen(shop)) throw new AppError('CONFLICT', 'The shop is suspended', { code: 'shop_suspended' })
    if (since === undefined) throw new AppError('CONFLICT', 'Only the shop can request returns: contact the shop')
    const returns = await returnStore.ofOrder(tx, orderId)
    const sources = { order, returns, ...(await goodsOf(deps, tx, orderId)) }
    assertReturnable(lines, returnableOf(sources, since))
    if (returns.length >= returnsMax)
      throw new AppError('CONFLICT', `An order can have at most ${returnsMax} returns`, { code: 'limit_reached' })
    const row: OrderReturn = {
      ...{ id: deps.newId('return'), orderId, shopId, status: 'REQUESTED', requestedBy: by },
      lines: lines.map((line) => pick(line, 'lineId', 'quantity', 'reason')),
      ...{ rejection: null, restocked: false, refundId: null, attemptKey: null, createdAt: now, updatedAt: now },
    }
    await returnStore.insert(tx, row)
    await announce(tx, deps, { order, row, lines: sources.lines, actor })
    return returnView(row, [])
  }, locking)
}

/**
 * Approves or rejects a requested return.
 * @throws AppError NOT_FOUND; CONFLICT unless it is REQUESTED
 */
export async function settleReturnRequest(
  deps: ReturnDeps,
  ids: ReturnOfShop,
  { actor, write = deps.db.write }: By,
  decision: { readonly status: 'APPROVED' | 'REJECTED'; readonly reason?: string | undefined },
): Promise<ReturnView> {
  return write(async (tx) => {
    const { order } = await lockReturn(tx, deps, ids, decision.status)
    const change = { rejection: decision.reason ?? null, updatedAt: deps.clock.now() }
    const row = assertChanged(await deps.returnStore.move(tx, ids.returnId, ['REQUESTED'], decision.status, change))
    await announce(tx, deps, { order, row, lines: (await goodsOf(deps, tx, order.id)).lines, actor })
    return returnView(row, [])
  }, locking)
}

/**
 * Receives the goods of an approved return: in one write they are restocked and their refund is recorded, as decided.
 * Then the refund is made; without an answer the job continues. A resumed attempt continues its own refund.
 * @throws AppError NOT_FOUND; CONFLICT unless it is APPROVED, and if these lines can no longer be refunded
 */
export async function receiveReturn(
  deps: ReturnDeps,
  ids: ReturnOfShop,
  { actor, attempt }: { readonly actor: Actor; readonly attempt: Pick<Attempt, 'key' | 'isResumed'> },
  decision: { readonly restock: boolean; readonly refund: boolean },
): Promise<ReturnView> {
  const { returnStore } = deps
  const { row, isNew } = await deps.db.write(async (tx) => {
    const { order, before } = await lockReturn(tx, deps, ids, attempt)
    if (before.status === 'RECEIVED') return { row: before, isNew: false }
    const goods = await goodsOf(deps, tx, order.id)
    const { lines } = goods
    const units = before.lines.map(({ lineId, quantity }) => ({ lineId, quantity, restock: decision.restock, returned: true as const }))
    const request = { ...pick(ids, 'shopId', 'orderId'), actor, attemptKey: attempt.key, reason: undefined, scope: { lines: units } }
    // Before the refund, which may lock gift cards.
    if (decision.restock) {
      await announceOrderStock(tx, deps, order)
      const returns = await returnStore.ofOrder(tx, order.id)
      await restock(tx, deps, stockOf(restockableOf({ order, ...goods, returns }, { before, units, decision }), lines))
    }
    const made = decision.refund ? await recordRefund(tx, deps, request, 'REFUND') : undefined
    const change = { restocked: decision.restock, refundId: made?.refund.id ?? null, attemptKey: attempt.key, updatedAt: deps.clock.now() }
    const after = assertChanged(await returnStore.move(tx, ids.returnId, ['APPROVED'], 'RECEIVED', change))
    await announce(tx, deps, { order, row: after, lines, actor })
    return { row: after, isNew: true }
  }, locking)
  if (row.refundId === null) return returnView(row, [])
  return returnView(row, [await settleRefund(deps, row.refundId, requestSagaContext(deps, attempt.key), { isNew })])
}

type Receipt = {
  readonly before: OrderReturn
  readonly units: readonly (ReturnableLine & { readonly restock: boolean; readonly returned: true })[]
  readonly decision: { readonly refund: boolean }
}

/** Returns the units of a return that go back to stock: none that a refund sent there before. */
function restockableOf({ order, lines, fulfilments, refunds, returns }: Sources, { before, units, decision }: Receipt): ReturnableLine[] {
  const standing = refunds.filter(({ status }) => status !== 'FAILED')
  const moves = {
    refunds: decision.refund ? [...standing, { lines: units }] : standing,
    earlier: refunds.filter(isAssured),
    received: returns.filter(({ id, status }) => status === 'RECEIVED' || id === before.id),
  }
  const counted = unitsOf(order, lines, fulfilments, refunds)
  return units
    .map(({ lineId, quantity }) => {
      const line = counted.find((one) => one.lineId === lineId)
      return { lineId, quantity: line ? Math.min(quantity, restockableUnits(line, moves)) : 0 }
    })
    .filter(({ quantity }) => quantity > 0)
}

/** Returns the received units whose stock is counted. */
const stockOf = (units: readonly ReturnableLine[], lines: readonly OrderLine[]) =>
  stockTrackedLines(units.flatMap(({ lineId, quantity }) => lines.filter(({ id }) => id === lineId).map((line) => ({ ...line, quantity }))))

function assertChanged(row: OrderReturn | undefined): OrderReturn {
  if (!row) throw new Error('a return whose order was locked has changed')
  return row
}

/**
 * Locks an order and finds its return.
 * @param next the next status, or the attempt that receives it and may have done so
 */
async function lockReturn(
  tx: Writer,
  deps: ReturnDeps,
  { shopId, orderId, returnId }: ReturnOfShop,
  next: 'APPROVED' | 'REJECTED' | Pick<Attempt, 'key' | 'isResumed'>,
): Promise<{ order: Order; before: OrderReturn }> {
  const order = await lockOrder(deps, tx, orderId)
  if (order?.shopId !== shopId) throw noSuchOrder()
  const before = (await deps.returnStore.ofOrder(tx, orderId)).find(({ id }) => id === returnId)
  if (!before) throw new AppError('NOT_FOUND', 'No such return')
  if (typeof next !== 'string' && next.isResumed && before.attemptKey === next.key) return { order, before }
  const to = typeof next === 'string' ? next : 'RECEIVED'
  if (!(returnTransitions[before.status] as readonly string[]).includes(to))
    throw new AppError('CONFLICT', `A return that is ${before.status} cannot become ${to}`, { code: 'invalid_transition' })
  return { order, before }
}

type Announced = { readonly order: Order; readonly row: OrderReturn; readonly lines: readonly OrderLine[]; readonly actor: Actor }

/** Appends the event of a return's new status, and queues its webhook and the shopper's mail. */
async function announce(tx: Writer, deps: ReturnDeps, { order, row, lines, actor }: Announced): Promise<void> {
  const { id: orderId, number, shopId } = order
  const { id, status, rejection } = row
  await appendEvent(tx, deps, { orderId, type: `RETURN_${status}`, detail: { return: id }, actor: actor.id })
  await enqueueMessage(tx, deps, {
    shopId,
    event: 'order.return_updated',
    key: `order.return_updated:${id}:${status}`,
    data: {
      orderId,
      number,
      return: { id, status, lines: row.lines.map((line) => pick(line, 'lineId', 'quantity')), refundId: row.refundId },
    },
  })
  const units = new Map(row.lines.map(({ lineId, quantity }) => [lineId, quantity]))
  await queueMail(tx, deps, {
    ...{ shopId, to: order.email, key: `return-updated:${id}:${status}`, template: 'return-updated' },
    data: {
      ...{ order: { orderId, number }, status, rejection },
      lines: lines.flatMap(({ id: lineId, title, variantTitle }) => {
        const quantity = units.get(lineId)
        return quantity === undefined ? [] : [{ title, variantTitle: visibleVariantTitle(variantTitle), quantity }]
      }),
    },
  })
  if (row.requestedBy === 'SHOPPER' && status === 'REQUESTED') return
  await audit(tx, deps, { actor, action: `order.return_${status.toLowerCase()}`, subject: orderId, shopId, after: { return: id, status } })
}
