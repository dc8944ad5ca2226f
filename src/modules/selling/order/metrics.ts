/** Metrics of orders and refunds, in Prometheus' text format. */
import type { Deps } from '../../../core/deps.ts'
import { labelledMetric, optionalMetric, type Sample } from '../../../lib/prometheus.ts'
import { orderStatuses, refundStatuses } from './domain.ts'
import type { OrderDeps } from './providers.ts'
import { ordersByStatus as countOrders, readUnfinished, type UnfinishedCount, type UnfinishedFigures } from './saga/backlog-store.ts'

type FiguresDeps = Pick<Deps, 'db'> & Pick<OrderDeps, 'orderFigures'>
type Figures = { readonly byStatus: ReadonlyMap<string, number> | undefined; readonly unfinished: UnfinishedFigures | undefined }

/** Counts orders by status. The more there are, the less often they are counted. */
export const ordersByStatus = ({ db, orderFigures }: FiguresDeps): Promise<ReadonlyMap<string, number>> =>
  orderFigures.byStatus.get(() => countOrders(db.read))

/** Counts unfinished orders and refunds; the counts are some seconds old at most. */
export const unfinishedOrders = ({ db, orderFigures }: FiguresDeps): Promise<UnfinishedFigures> =>
  orderFigures.unfinished.get(() => readUnfinished(db.read))

const byStatus = (status: string, value: number): Sample => ({ labels: { status }, value })
const secondsSince = (now: number, at: number): number => Math.max(0, now - at) / 1_000

/** The metrics of unfinished rows, with this prefix. */
const unfinishedLines = (name: string, what: string, all: readonly UnfinishedCount[] | undefined, now: number): string[] => [
  ...labelledMetric(
    `souk_${name}s_unfinished`,
    `${what} that are not finished, of the 10000 that are due first.`,
    (all ?? []).map(({ status, count }) => byStatus(status, count)),
  ),
  ...labelledMetric(
    `souk_${name}_oldest_age_seconds`,
    'Age of the oldest of them.',
    (all ?? []).map(({ status, oldestAt }) => byStatus(status, secondsSince(now, oldestAt))),
  ),
  ...optionalMetric(
    `souk_${name}_overdue_seconds`,
    'How long the first of them is overdue; 0 if none is due.',
    all && Math.max(0, ...all.map(({ dueAt }) => secondsSince(now, dueAt))),
  ),
]

/** @param figures undefined where not known */
export function orderMetrics(
  { orderCounts, refundCounts, processors, clock }: Pick<Deps, 'clock'> & Pick<OrderDeps, 'orderCounts' | 'refundCounts' | 'processors'>,
  { byStatus: all, unfinished }: Figures,
): string[] {
  const now = clock.now()
  const moves = new Map(orderCounts.all())
  const refunds = new Map(refundCounts.all())
  // Every processor that can refund is listed from the start, so that its first refund shows as an increase.
  const refunded = new Set(['gift_card', ...processors.keys(), ...[...refunds.keys()].map((words) => words.split(' ')[0] ?? '')])
  return [
    ...labelledMetric(
      'souk_order_moves_total',
      'Orders that this process placed (PENDING_PAYMENT) or moved to the status.',
      orderStatuses.filter((status) => status !== 'PAID').map((status) => byStatus(status, moves.get(status) ?? 0)),
      'counter',
    ),
    ...labelledMetric(
      'souk_refunds_total',
      'Refunds that this process created or moved, by processor and result.',
      [...refunded].flatMap((processor) =>
        refundStatuses.map((status) => {
          const result = status === 'PENDING' ? 'begun' : status.toLowerCase()
          return { labels: { processor, result }, value: refunds.get(`${processor} ${status}`) ?? 0 }
        }),
      ),
      'counter',
    ),
    ...labelledMetric(
      'souk_orders',
      'Orders of all shops, by status.',
      all ? orderStatuses.map((status) => byStatus(status, all.get(status) ?? 0)) : [],
    ),
    ...unfinishedLines('saga', 'Orders', unfinished?.sagas, now),
    ...unfinishedLines('refund', 'Refunds', unfinished?.refunds, now),
    ...optionalMetric('souk_payment_messages_waiting', 'Messages of processors that are not processed yet.', unfinished?.messages),
  ]
}
