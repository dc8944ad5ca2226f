import type { Writer } from '../../../../../db/engine.ts'
import { type CommandContext, locking } from '../../../../core/command-context.ts'
import { AppError, fieldError, invalidField } from '../../../../core/errors.ts'
import { assertNotStale, assertVersion } from '../../../../core/versions.ts'
import { pick, withoutUndefined } from '../../../../lib/objects.ts'
import { enqueueMessage } from '../../../messaging/webhook/index.ts'
import { audit } from '../../../operations/audit/index.ts'
import { correctionsMax, type Fulfilment, notesMax, type Order, parcelsMax, trackingOf } from '../domain.ts'
import { appendEvent } from '../events.ts'
import type { OrderDeps } from '../providers.ts'
import { reindexOrder } from '../search/search-index.ts'
import { type FulfilmentView, fulfilmentView, type NoteView, noteView } from '../view.ts'
import { type FulfilledLine, type Units, unitsOf } from './units.ts'

const noSuchOrder = () => new AppError('NOT_FOUND', 'No such order')

/**
 * Returns the lines of a new fulfilment.
 * @param requested undefined means all that is left
 * @param sentBefore the number of earlier fulfilments
 * @throws AppError INVALID for an unknown or repeated line; CONFLICT for more units than are left, when nothing is
 *   left, and for one fulfilment too many
 */
export function linesToFulfil(
  units: readonly Units[],
  requested: readonly FulfilledLine[] | undefined,
  sentBefore: number,
): FulfilledLine[] {
  const twice = requested?.findIndex(({ lineId }, at) => requested.findIndex((one) => one.lineId === lineId) < at) ?? -1
  if (twice >= 0) throw invalidField(`lines.${twice}.lineId`, 'must not be repeated')
  requested?.forEach(({ lineId, quantity }, at) => {
    const line = units.find((one) => one.lineId === lineId)
    if (!line) throw invalidField(`lines.${at}.lineId`, 'must be a line of the order')
    if (quantity > line.left)
      throw fieldError('CONFLICT', `lines.${at}.quantity`, `must be at most ${line.left}, the units of this line that are left to fulfil`)
  })
  const rest = units.filter(({ left }) => left > 0).map(({ lineId, left }) => ({ lineId, quantity: left }))
  if (rest.length === 0) throw new AppError('CONFLICT', 'All lines of the order are already fulfilled')
  const lines = requested?.map((line) => pick(line, 'lineId', 'quantity')) ?? rest
  const isRest = rest.every(({ lineId, quantity }) => lines.some((line) => line.lineId === lineId && line.quantity === quantity))
  if (sentBefore >= parcelsMax - 1 && !isRest)
    throw new AppError('CONFLICT', `An order can have at most ${parcelsMax} fulfilments: the last one must contain all remaining units`, {
      code: 'limit_reached',
    })
  return lines
}

/** Returns a fulfilment as webhooks show it. */
export const fulfilmentMessage = (fulfilment: Fulfilment) => pick(fulfilment, 'id', 'lines', 'trackingNumber', 'carrier')

/** Returns the detail of a fulfilment's event; unknown fields are left out. */
export const fulfilmentEventDetail = ({ id, trackingNumber, carrier }: Fulfilment): Record<string, string> =>
  withoutUndefined({ fulfilment: id, trackingNumber: trackingNumber ?? undefined, carrier: carrier ?? undefined })

/**
 * Queues the webhook of a completely sent order.
 * @param last its last fulfilment; undefined if a refund took the rest
 */
export const notifyFulfilled = (
  tx: Writer,
  deps: OrderDeps,
  { id: orderId, shopId, number, trackingNumber, carrier }: Order,
  last: Fulfilment | undefined,
): Promise<void> =>
  enqueueMessage(tx, deps, {
    shopId,
    event: 'order.fulfilled',
    key: `order.fulfilled:${orderId}`,
    data: {
      orderId,
      number,
      ...(last ? pick(last, 'trackingNumber', 'carrier') : { trackingNumber, carrier }),
      fulfilment: last ? fulfilmentMessage(last) : null,
    },
  })

/**
 * Moves a CONFIRMED order to FULFILLED if final refunds leave nothing to send.
 * @param order its row, which this write has locked
 */
export async function fulfilByRefund(tx: Writer, deps: OrderDeps, { order, actor }: { order: Order; actor: string }): Promise<void> {
  if (order.status !== 'CONFIRMED') return
  const { orderStore: store } = deps
  const [lines, parcels, refunds] = [
    await store.lines(order.id, tx),
    await store.parcelsOf(tx, order.id),
    await store.refundsOf(tx, order.id),
  ]
  if (unitsOf(order, lines, parcels, refunds).some(({ open }) => open > 0)) return
  const now = deps.clock.now()
  const fulfilled = { fulfilmentStatus: 'FULFILLED', fulfilledAt: now, updatedAt: now } as const
  const after = await store.move(tx, order.id, ['CONFIRMED'], 'FULFILLED', fulfilled)
  if (!after) return
  await appendEvent(tx, deps, { orderId: order.id, type: 'FULFILLED', actor })
  await notifyFulfilled(tx, deps, after, undefined)
}

/**
 * Reads a fulfilment.
 * @returns it with its version
 * @throws AppError NOT_FOUND
 */
export async function readFulfilment(
  { orderStore, db }: OrderDeps,
  { shopId, orderId, fulfilmentId }: { shopId: string; orderId: string; fulfilmentId: string },
): Promise<FulfilmentView & { version: number }> {
  if ((await orderStore.find(orderId))?.shopId !== shopId) throw noSuchOrder()
  const parcels = await orderStore.parcelsOf(db.read, orderId)
  const parcel = parcels.find(({ id }) => id === fulfilmentId)
  if (!parcel) throw new AppError('NOT_FOUND', 'No such fulfilment')
  return versioned(parcel)
}

/** A correction: null clears a field, undefined keeps it. */
type Correction = { readonly trackingNumber?: string | null | undefined; readonly carrier?: string | null | undefined }

/**
 * Corrects the tracking of a fulfilment; its lines stay. Writes nothing if nothing changes.
 * @returns it with its version
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for one correction too many
 */
export async function changeFulfilment(
  deps: OrderDeps,
  { shop, actor, expected, write = deps.db.write }: CommandContext,
  { orderId, fulfilmentId }: { orderId: string; fulfilmentId: string },
  correction: Correction,
): Promise<FulfilmentView & { version: number }> {
  const { orderStore, fulfilmentStore: store } = deps
  return write(async (tx) => {
    const order = await lockOwnOrder(tx, deps, shop.id, orderId)
    const parcels = await orderStore.parcelsOf(tx, orderId)
    const before = parcels.find(({ id }) => id === fulfilmentId)
    if (!before) throw new AppError('NOT_FOUND', 'No such fulfilment')
    assertVersion(expected, before.version)
    const { trackingNumber = before.trackingNumber, carrier = before.carrier } = correction
    if (trackingNumber === before.trackingNumber && carrier === before.carrier) return versioned(before)
    if (parcels.reduce((sum, { version }) => sum + version - 1, 0) >= correctionsMax)
      throw new AppError('CONFLICT', `The fulfilments of an order can be corrected at most ${correctionsMax} times`, {
        code: 'limit_reached',
      })
    const now = deps.clock.now()
    const after = assertNotStale(await store.change(tx, before, { trackingNumber, carrier, updatedAt: now }))
    if (trackingNumber !== before.trackingNumber) await reindexOrder(tx, deps, orderId)
    const tracking = trackingOf(parcels.map((one) => (one.id === after.id ? after : one)))
    await orderStore.change(tx, orderId, [order.status], { ...tracking, updatedAt: now })
    await appendEvent(tx, deps, { orderId, type: 'FULFILMENT_UPDATED', detail: fulfilmentEventDetail(after), actor: actor.id })
    await enqueueMessage(tx, deps, {
      shopId: shop.id,
      event: 'order.fulfilment_updated',
      key: `order.fulfilment_updated:${after.id}:${after.version}`,
      data: { orderId, number: order.number, fulfilment: fulfilmentMessage(after) },
    })
    await audit(tx, deps, { actor, action: 'order.fulfilment_updated', subject: orderId, shopId: shop.id, after: { fulfilment: after.id } })
    return versioned(after)
  }, locking)
}

/** Returns a fulfilment with its version, for a client that changes it. */
export const versioned = (fulfilment: Fulfilment): FulfilmentView & { version: number } => ({
  ...fulfilmentView(fulfilment),
  version: fulfilment.version,
})

/**
 * Adds a staff note to an order in any status.
 * @throws AppError NOT_FOUND; CONFLICT for one note too many
 */
export async function addOrderNote(
  deps: OrderDeps,
  { shop, actor, write = deps.db.write }: CommandContext,
  orderId: string,
  text: string,
): Promise<NoteView> {
  const { orderStore, fulfilmentStore } = deps
  return write(async (tx) => {
    await lockOwnOrder(tx, deps, shop.id, orderId)
    if ((await orderStore.notesOf(tx, orderId)).length >= notesMax)
      throw new AppError('CONFLICT', `An order can have at most ${notesMax} notes`, { code: 'limit_reached' })
    const note = { id: deps.newId('note'), orderId, text, actor: actor.id, at: deps.clock.now() }
    await fulfilmentStore.insertNote(tx, note)
    await audit(tx, deps, { actor, action: 'order.noted', subject: orderId, shopId: shop.id, after: { note: note.id } })
    return noteView(note)
  }, locking)
}

async function lockOwnOrder(tx: Writer, deps: OrderDeps, shopId: string, orderId: string): Promise<Order> {
  const order = await deps.orderStore.lock(tx, orderId)
  if (order?.shopId !== shopId) throw noSuchOrder()
  return order
}
