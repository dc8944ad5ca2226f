import type { Deps } from '../../../core/deps.ts'
import { createTally } from '../../../lib/prometheus.ts'
import { createKept } from '../../../lib/stale-while-revalidate.ts'
import { createWebhooks } from './dispatch.ts'
import type { QueueFigures } from './store.ts'

export function webhookProviders(deps: Deps) {
  const webhookCounts = createTally()
  return {
    webhooks: createWebhooks({ ...deps, webhookCounts }),
    webhookCounts,
    /** How the queue stood when somebody looked last, for the metrics. */
    webhookFigures: createKept<QueueFigures>(deps.clock.monotonic),
  }
}
export type WebhookDeps = Deps & ReturnType<typeof webhookProviders>
