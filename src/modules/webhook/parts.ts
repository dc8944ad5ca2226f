import type { Deps } from '../../core/deps.ts'
import { createWebhooks } from './dispatch.ts'

export const webhookParts = (deps: Deps) => ({ webhooks: createWebhooks(deps) })
export type WebhookDeps = Deps & ReturnType<typeof webhookParts>
