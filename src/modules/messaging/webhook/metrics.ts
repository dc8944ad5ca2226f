/** Metrics of webhooks in Prometheus' text format. */
import type { Deps } from '../../../core/deps.ts'
import { labelledMetric, optionalMetric } from '../../../lib/prometheus.ts'
import type { WebhookDeps } from './providers.ts'
import { type QueueFigures, webhookStore as store } from './store.ts'

/** Returns the queue's figures, at most some seconds old. */
export const readWebhookFigures = ({
  db,
  webhookFigures: kept,
}: Pick<Deps, 'db'> & Pick<WebhookDeps, 'webhookFigures'>): Promise<QueueFigures> => kept.get(() => store.queue(db.read))

/** @param figures undefined if unknown; then only this process's own counts are returned */
export function webhookMetrics({ webhookCounts, clock }: WebhookDeps, figures: QueueFigures | undefined): string[] {
  const counts = new Map(webhookCounts.all())
  const secondsSince = (at: number | undefined) => (at === undefined ? 0 : Math.max(0, clock.now() - at) / 1_000)
  return [
    ...labelledMetric(
      'souk_webhook_attempts_total',
      'What came of deliveries in this process: delivered, failed (tried again), or dead (given up).',
      ['delivered', 'failed', 'dead'].map((result) => ({ labels: { result }, value: counts.get(result) ?? 0 })),
      'counter',
    ),
    ...optionalMetric('souk_webhook_messages_waiting', 'Messages that are still to be handed out to endpoints.', figures?.messages),
    ...optionalMetric(
      'souk_webhook_message_oldest_age_seconds',
      'How old the oldest of them is.',
      figures && secondsSince(figures.oldestAt),
    ),
    ...optionalMetric(
      'souk_webhook_deliveries_waiting',
      'Deliveries that are still to be made, those between two attempts included.',
      figures?.deliveries,
    ),
    ...optionalMetric(
      'souk_webhook_delivery_overdue_seconds',
      'For how long the first of them has been due, also where its endpoint rests; 0: none is due.',
      figures && secondsSince(figures.dueAt),
    ),
  ]
}
