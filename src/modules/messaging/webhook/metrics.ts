/** Metrics of webhooks in Prometheus' text format. */
import type { Deps } from '../../../core/deps.ts'
import { labelledMetric, optionalMetric } from '../../../lib/prometheus.ts'
import type { WebhookDeps } from './providers.ts'
import { type QueueFigures, webhookStore as store } from './store.ts'

/** Returns the queue's figures, at most some seconds old. */
export const readWebhookFigures = ({
  db,
  webhookFigures: cache,
}: Pick<Deps, 'db'> & Pick<WebhookDeps, 'webhookFigures'>): Promise<QueueFigures> => cache.get(() => store.queue(db.read))

/** @param figures undefined if unknown; then only this process's own counts are returned */
export function webhookMetrics({ webhookCounts, clock }: WebhookDeps, figures: QueueFigures | undefined): string[] {
  const counts = new Map(webhookCounts.all())
  const secondsSince = (at: number | undefined) => (at === undefined ? 0 : Math.max(0, clock.now() - at) / 1_000)
  return [
    ...labelledMetric(
      'souk_webhook_attempts_total',
      'Results of deliveries in this process: delivered, failed (will be retried), or dead (given up).',
      ['delivered', 'failed', 'dead'].map((result) => ({ labels: { result }, value: counts.get(result) ?? 0 })),
      'counter',
    ),
    ...optionalMetric('souk_webhook_messages_waiting', 'Messages whose deliveries were not created yet.', figures?.messages),
    ...optionalMetric(
      'souk_webhook_message_oldest_age_seconds',
      'Age of the oldest of these messages.',
      figures && secondsSince(figures.oldestAt),
    ),
    ...optionalMetric('souk_webhook_deliveries_waiting', 'Pending deliveries, including those between two attempts.', figures?.deliveries),
    ...optionalMetric(
      'souk_webhook_delivery_overdue_seconds',
      'Time since the first pending delivery was due, even if its endpoint is paused; 0: none is due.',
      figures && secondsSince(figures.dueAt),
    ),
  ]
}
