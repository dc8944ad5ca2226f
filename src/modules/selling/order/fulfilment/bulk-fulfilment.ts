import { AppError, type ErrorKind, invalidField } from '../../../../core/errors.ts'
import { inParallel } from '../../../../lib/parallel.ts'
import type { bulkFulfilmentStatuses } from '../domain.ts'
import type { OrderDeps } from '../providers.ts'
import { type OrderRequest, type Parcel, sendParcel } from '../service.ts'

type BulkRequest = Omit<OrderRequest, 'orderId'>
type BulkEntry = Parcel & { readonly orderId: string }
type BulkResult = { orderId: string; status: (typeof bulkFulfilmentStatuses)[number]; message?: string }

/** Writes in flight. SQLite commits them together; on PostgreSQL each uses a connection. */
const inFlightMax = 10
/** Errors that concern one order. Others end the request, which can be repeated with its key. */
const refusals: readonly ErrorKind[] = ['INVALID', 'NOT_FOUND', 'CONFLICT']

/**
 * Fulfils orders, each in its own write. A resumed attempt sends only what the earlier one did not.
 * @returns a result for each order, in the same order
 * @throws AppError INVALID for a repeated order
 */
export async function fulfilOrders(deps: OrderDeps, request: BulkRequest, entries: readonly BulkEntry[]): Promise<BulkResult[]> {
  const ids = entries.map(({ orderId }) => orderId)
  const twice = ids.findIndex((id, at) => ids.indexOf(id) < at)
  if (twice >= 0) throw invalidField(`orders.${twice}.orderId`, 'must not be repeated')
  const results = new Map<string, BulkResult>()
  await inParallel(entries, inFlightMax, async (entry) => {
    results.set(entry.orderId, await fulfilOne(deps, request, entry))
  })
  return entries.flatMap(({ orderId }) => results.get(orderId) ?? [])
}

async function fulfilOne(deps: OrderDeps, request: BulkRequest, { orderId, ...parcel }: BulkEntry): Promise<BulkResult> {
  try {
    const { order } = await sendParcel(deps, { ...request, orderId }, parcel)
    return { orderId, status: order.status === 'CONFIRMED' ? 'PARTIALLY_FULFILLED' : 'FULFILLED' }
  } catch (error) {
    if (!(error instanceof AppError && refusals.includes(error.kind))) throw error
    return { orderId, status: 'FAILED', message: error.message }
  }
}
