import type { Writer } from '../../../db/engine.ts'
import type { Deps } from '../../core/deps.ts'
import type { AffiliateDeps } from '../affiliate/index.ts'
import type { CartDeps } from '../cart/index.ts'
import type { PaymentDeps } from '../payment/index.ts'
import { createOrderDocuments, createOrderMemory, type OrderMemory } from './documents.ts'
import { createOrderStore } from './store.ts'

/** What this process remembers of orders, and what drops it. Payments are shown with their order: theirs begins with this. */
export function orderMemoryParts({ db }: Deps) {
  const orderMemory: OrderMemory = createOrderMemory(db)
  return {
    orderMemory,
    /** Called inside every write that changes what an order shows. */
    orderChanged: (tx: Writer, orderId: string) => tx.afterCommit(() => orderMemory.forget(orderId)),
  }
}

export function orderParts({ db, orderMemory, orderChanged }: Deps & ReturnType<typeof orderMemoryParts>) {
  const orderStore = createOrderStore(db, orderChanged)
  return { orderStore, orderDocuments: createOrderDocuments(orderMemory, orderStore) }
}
export type OrderDeps = AffiliateDeps & CartDeps & PaymentDeps & ReturnType<typeof orderParts>
