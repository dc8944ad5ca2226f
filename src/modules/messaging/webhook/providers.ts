import type { Deps } from '../../../core/deps.ts'
import { createTally } from '../../../lib/prometheus.ts'
import { createStaleWhileRevalidate } from '../../../lib/stale-while-revalidate.ts'
import { createWebhookSender, type OutboxConsumer } from './dispatch.ts'
import type { QueueFigures } from './store.ts'

export function webhookProviders(deps: Deps) {
  const webhookCounts = createTally()
  const outboxConsumers: OutboxConsumer[] = []
  return {
    webhooks: createWebhookSender({ ...deps, webhookCounts, outboxConsumers }),
    webhookCounts,
    outboxConsumers,
    /** Cached figures of the queue for metrics. */
    webhookFigures: createStaleWhileRevalidate<QueueFigures>(deps.clock.monotonic),
  }
}
export type WebhookDeps = Deps & ReturnType<typeof webhookProviders>
