import type { AppDeps } from '../src/providers.ts'

/** Sends the outbox. Does not wait for responses: a slow endpoint must not delay the next run. */
export const deliverWebhooks = ({ webhooks }: Pick<AppDeps, 'webhooks'>): Promise<void> => webhooks.run()
