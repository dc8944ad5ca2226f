/** Returns of fulfilled orders. */
import { ok, type Selling } from './selling.ts'

/** Places and fulfils an order. Returns it with the path and body that request the return of one unit. */
export async function returnableOf(shop: Selling, options: Parameters<Selling['placeOrder']>[0] = {}) {
  const order = await shop.placeOrder(options)
  ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {}))
  const lineId: string = order.lines[0].id
  const orderId: string = order.id
  const publicUrl: string = order.publicUrl
  const body = { lines: [{ lineId, quantity: 1, reason: 'Too small' }] }
  return { order, orderId, lineId, publicUrl, token: publicUrl.split('/').at(-1) ?? '', path: `/v2/orders/${orderId}/returns`, body }
}

/** Requests the return of one unit as the shop. `path` is the path of the return. */
export async function requestedReturnOf(shop: Selling, options: Parameters<Selling['placeOrder']>[0] = {}) {
  const found = await returnableOf(shop, options)
  const returnRecord = ok(await shop.post(found.path, found.body), 201).body
  return { ...found, id: returnRecord.id as string, returnRecord, path: `${found.path}/${returnRecord.id}`, listPath: found.path }
}
