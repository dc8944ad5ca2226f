export { type HostedPageOption, hasHostedPage, hostedPageOptions, hostedPageUrl } from './hosted-page.ts'
export {
  dueMessages,
  forgetPaymentMessages,
  type IncomingWebhook,
  paymentOfMessage,
  receiveMessage,
  rescheduleMessage,
  takeMessage,
} from './inbox.ts'
export { selectManualMethod } from './manual-payment.ts'
export { paymentMetrics } from './metrics.ts'
export type { PaymentDeps } from './providers.ts'
export {
  abandonPayment,
  captureFields,
  recordCapture,
  recordPaymentProgress,
  recordReferences,
  recordRefunded,
  returnLease,
} from './record-answer.ts'
export { type Choices, type OfferedProcessors, readOfferedProcessors, selectProcessor } from './select-processor.ts'
export { sendRefund } from './send-refund.ts'
export {
  canQueryPayment,
  capturedPayment,
  createPayment,
  endLeases,
  failOverCapabilities,
  fetchPaymentStatus,
  lockPaymentAsKnown,
  type PaymentAnswer,
  type PaymentOperation,
  paymentsOf,
  paymentsWithin,
  requestProcessor,
} from './service.ts'
export {
  endSweepTurn,
  paymentOfCallback,
  paymentsDueForQuery,
  scheduleQuery,
  storePaidReference,
  storeReferences,
  takeQueryTurn,
  takeSweepTurn,
} from './status-query.ts'
