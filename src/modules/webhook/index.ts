export { webhookFigures, webhookMetrics } from './metrics.ts'
export type { WebhookDeps } from './parts.ts'
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
