export { webhookFigures, webhookMetrics } from './metrics.ts'
export type { WebhookDeps } from './parts.ts'
export {
  createEndpoint,
  enqueueMessage,
  findEndpoint,
  forgetOldMessages,
  listDeliveries,
  listEndpoints,
  removeEndpoint,
} from './service.ts'
