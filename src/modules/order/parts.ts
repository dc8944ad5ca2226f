import type { Writer } from '../../../db/engine.ts'
import type { Deps } from '../../core/deps.ts'
import { createErrands } from '../../core/errands.ts'
import type { LanesAtWork } from '../../core/lanes.ts'
import type { AffiliateDeps } from '../affiliate/index.ts'
import type { CartDeps } from '../cart/index.ts'
import type { PaymentDeps } from '../payment/index.ts'
import { createOrderCache, createOrderDocuments, type OrderCache } from './documents.ts'
import { createOrderStore } from './store.ts'

/** What this process remembers of orders, and what drops it. Payments are shown with their order: theirs begins with this. */
export function orderCacheParts({ db }: Deps) {
  const orderCache: OrderCache = createOrderCache(db)
  return {
    orderCache,
    /** Called inside every write that changes what an order shows. */
    orderChanged: (tx: Writer, orderId: string) => tx.afterCommit(() => orderCache.forget(orderId)),
  }
}

export function orderParts({ db, log, orderCache, orderChanged }: Deps & ReturnType<typeof orderCacheParts>) {
  const orderStore = createOrderStore(db, orderChanged)
  return {
    orderStore,
    orderDocuments: createOrderDocuments(orderCache, orderStore),
    lanesAtWork: new Set() as LanesAtWork,
    /** Where there is another way to pay, the first one is waited for so many milliseconds, and not until the shopper has gone. */
    failOver: { patienceMs: 10_000 },
    /** What processors' messages have this process do at once. */
    errands: createErrands({ log }),
  }
}
export type OrderDeps = AffiliateDeps & CartDeps & PaymentDeps & ReturnType<typeof orderParts>
