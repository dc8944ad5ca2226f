export type { OutboxConsumer } from './dispatch.ts'
export { readWebhookFigures, webhookMetrics } from './metrics.ts'
export type { WebhookDeps } from './providers.ts'
export {
  createEndpoint,
  deleteOldMessages,
  enqueueMessage,
  findDelivery,
  findEndpoint,
  listDeliveries,
  listEndpoints,
  removeEndpoint,
  resendDelivery,
} from './service.ts'
