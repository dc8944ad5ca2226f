import type { Writer } from '../../../../db/engine.ts'
import { createErrands } from '../../../core/background-tasks.ts'
import type { Deps } from '../../../core/deps.ts'
import type { LanesAtWork } from '../../../core/partitioned-queue.ts'
import { createTally } from '../../../lib/prometheus.ts'
import { createKept } from '../../../lib/stale-while-revalidate.ts'
import type { CustomerDeps } from '../../customers/customer/index.ts'
import type { MailDeps } from '../../messaging/mail/index.ts'
import type { PaymentDeps } from '../../payments/payment/index.ts'
import type { AffiliateDeps } from '../affiliate/index.ts'
import type { CartDeps } from '../cart/index.ts'
import { createOrderCache, createOrderDocuments, type OrderCache } from './documents.ts'
import { createFulfilmentStore } from './fulfilment/fulfilments-store.ts'
import { orderPreparers } from './mails.ts'
import { guestOrdersOf } from './placing/guest-orders.ts'
import type { UnfinishedFigures } from './saga/backlog-store.ts'
import { createOrderStore } from './store.ts'

/** What this process remembers of orders, and what drops it. Payments are shown with their order: theirs begins with this. */
export function orderCacheProviders({ db }: Deps) {
  const orderCache: OrderCache = createOrderCache(db)
  return {
    orderCache,
    /** Called inside every write that changes what an order shows. */
    orderChanged: (tx: Writer, orderId: string) => tx.afterCommit(() => orderCache.forget(orderId)),
  }
}

export function orderProviders(deps: MailDeps & CustomerDeps & ReturnType<typeof orderCacheProviders>) {
  const { db, clock, log, orderCache, orderChanged, orderLinks } = deps
  const orderCounts = createTally()
  const refundCounts = createTally()
  /** Once the write is committed: what is run again is counted once. */
  const orderStore = createOrderStore(db, orderChanged, {
    order: (tx, { status }) => tx.afterCommit(() => orderCounts.add(status)),
    refund: (tx, { processor, status }) => tx.afterCommit(() => refundCounts.add(`${processor ?? 'gift_card'} ${status}`)),
  })
  orderPreparers(deps, orderStore.find)
  deps.guestOrders.push(guestOrdersOf(deps))
  return {
    /** Orders that this process has placed or moved on, by status; and refunds, by processor and status. */
    orderCounts,
    refundCounts,
    /** What was counted last, of all orders and of those that are unfinished, for the metrics. */
    orderFigures: {
      byStatus: createKept<ReadonlyMap<string, number>>(clock.monotonic),
      unfinished: createKept<UnfinishedFigures>(clock.monotonic),
    },
    orderStore,
    fulfilmentStore: createFulfilmentStore(orderChanged),
    orderDocuments: createOrderDocuments(orderCache, orderStore, orderLinks),
    lanesAtWork: new Set() as LanesAtWork,
    /** Where there is another way to pay, the first one is waited for so many milliseconds, and not until the shopper has gone. */
    failOver: { patienceMs: 10_000 },
    /** What processors' messages have this process do at once. */
    errands: createErrands({ log }),
  }
}
export type OrderDeps = AffiliateDeps & CartDeps & PaymentDeps & MailDeps & ReturnType<typeof orderProviders>
