export { webhookFigures, webhookMetrics } from './metrics.ts'
export type { WebhookDeps } from './providers.ts'
export {
  createEndpoint,
  enqueueMessage,
  findDelivery,
  findEndpoint,
  forgetOldMessages,
  listDeliveries,
  listEndpoints,
  removeEndpoint,
  resendDelivery,
} from './service.ts'
