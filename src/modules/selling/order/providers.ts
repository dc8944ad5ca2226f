import type { Writer } from '../../../../db/engine.ts'
import { createBackgroundTasks } from '../../../core/background-tasks.ts'
import type { Deps } from '../../../core/deps.ts'
import type { BusyLanes } from '../../../core/partitioned-queue.ts'
import { createTally } from '../../../lib/prometheus.ts'
import { createStaleWhileRevalidate } from '../../../lib/stale-while-revalidate.ts'
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

/** Creates the order cache and its invalidation. Payments need it, so it comes before them. */
export function orderCacheProviders({ db }: Deps) {
  const orderCache: OrderCache = createOrderCache(db)
  return {
    orderCache,
    /** Called inside every write that changes what an order shows. */
    orderChanged: (tx: Writer, orderId: string) => tx.afterCommit(() => orderCache.delete(orderId)),
  }
}

export function orderProviders(deps: MailDeps & CustomerDeps & ReturnType<typeof orderCacheProviders>) {
  const { db, clock, log, orderCache, orderChanged, orderLinks } = deps
  const orderCounts = createTally()
  const refundCounts = createTally()
  /** After the commit, so that a retried write counts once. */
  const orderStore = createOrderStore(db, orderChanged, {
    order: (tx, { status }) => tx.afterCommit(() => orderCounts.add(status)),
    refund: (tx, { processor, status }) => tx.afterCommit(() => refundCounts.add(`${processor ?? 'gift_card'} ${status}`)),
  })
  orderPreparers(deps, orderStore.find)
  deps.guestOrders.push(guestOrdersOf(deps))
  return {
    /** Orders that this process placed or moved, by status; refunds, by processor and status. */
    orderCounts,
    refundCounts,
    /** The last counts of all orders and of unfinished ones, for the metrics. */
    orderFigures: {
      byStatus: createStaleWhileRevalidate<ReadonlyMap<string, number>>(clock.monotonic),
      unfinished: createStaleWhileRevalidate<UnfinishedFigures>(clock.monotonic),
    },
    orderStore,
    fulfilmentStore: createFulfilmentStore(orderChanged),
    orderDocuments: createOrderDocuments(orderCache, orderStore, orderLinks),
    busyLanes: new Set() as BusyLanes,
    /** With another processor to try, a request waits this long for the first one. */
    failOver: { patienceMs: 10_000 },
    /** Runs webhooks' work in the background. */
    backgroundTasks: createBackgroundTasks({ log }),
  }
}
export type OrderDeps = AffiliateDeps & CartDeps & PaymentDeps & MailDeps & ReturnType<typeof orderProviders>
