import type { AppDeps } from '../src/providers.ts'

/** Sends the outbox to endpoints and platforms. Does not wait for responses: a slow one must not delay the next run. */
export async function deliverWebhooks({
  webhooks,
  orderMessages,
  config,
}: Pick<AppDeps, 'webhooks' | 'orderMessages' | 'config'>): Promise<void> {
  await webhooks.run()
  if (config.agentsEnabled) await orderMessages.run()
}
