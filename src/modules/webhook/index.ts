export type { WebhookDeps } from './parts.ts'
export {
  createEndpoint,
  enqueueMessage,
  findEndpoint,
  forgetOldMessages,
  listDeliveries,
  listEndpoints,
  releaseMessage,
  removeEndpoint,
  withdrawMessage,
} from './service.ts'
