export { type HostedPageOption, hostedPageOptions, hostedPageUrl } from './hosted-page.ts'
export { dueMessages, forgetPaymentMessages, paymentOfMessage, receiveMessage, rescheduleMessage, type Sent, takeMessage } from './inbox.ts'
export { paymentMetrics } from './metrics.ts'
export type { PaymentDeps } from './providers.ts'
export {
  abandonPayment,
  captureFields,
  recordCapture,
  recordNames,
  recordPaymentProgress,
  recordRefunded,
  returnLease,
} from './record-answer.ts'
export { type Choices, type OfferedProcessors, readOfferedProcessors, selectProcessor } from './select-processor.ts'
export {
  type Asked,
  canQueryPayment,
  capturedPayment,
  createPayment,
  endLeases,
  failOverCapabilities,
  fetchPaymentStatus,
  lockPaymentsAsKnown,
  type PaymentAnswer,
  paymentsOf,
  paymentsWithin,
  type Question,
  requestProcessor,
  sendRefund,
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
