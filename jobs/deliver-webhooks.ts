import type { AppDeps } from '../src/providers.ts'

/** Sends what the outbox holds. The answers are not waited for: an endpoint that hangs must not hold up the next round. */
export const deliverWebhooks = ({ webhooks }: Pick<AppDeps, 'webhooks'>): Promise<void> => webhooks.run()
