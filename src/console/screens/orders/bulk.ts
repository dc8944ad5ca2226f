/** Requests about several orders, in requests of at most 100. */
import { api, ok, type Schema } from '../../lib/api/api.ts'
import type { IdempotentSend } from '../../lib/api/idempotent-send.ts'

const bulkMax = 100

type Order = Schema<'Order'>
export type BulkEntry = { readonly orderId: string; readonly trackingNumber?: string; readonly carrier?: string }
export type BulkResult = Schema<'BulkFulfilmentEntry'>

const chunksOf = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / bulkMax) }, (_, index) => items.slice(index * bulkMax, (index + 1) * bulkMax))

/** Fulfils orders. After an unknown outcome, a repeated call sends nothing twice. */
export async function fulfilAll(sendOnce: IdempotentSend, entries: readonly BulkEntry[]): Promise<BulkResult[]> {
  const results: BulkResult[] = []
  for (const orders of chunksOf(entries)) {
    const { data } = await sendOnce(orders, (header) => ok(api.POST('/v2/orders/fulfilments', { params: { header }, body: { orders } })))
    results.push(...data)
  }
  return results
}

/** Reads orders by their numbers. */
export async function readByNumbers(numbers: readonly number[]): Promise<Map<number, Order>> {
  const found = new Map<number, Order>()
  for (const chunk of chunksOf(numbers)) {
    const query = { numbers: chunk.join(','), limit: String(bulkMax) }
    // The generated type of `limit` is a number, which the URL holds as text.
    const { data } = await ok(api.GET('/v2/orders', { params: { query: query as object } }))
    for (const order of data) found.set(order.number, order)
  }
  return found
}
