export { noteCapture, noteProgress, noteRefunded } from './notes.ts'
export type { PaymentDeps } from './parts.ts'
export {
  askProcessor,
  askRefund,
  beginPayment,
  capturedPayment,
  chooseProcessor,
  paymentOfMessage,
  paymentsBegun,
  paymentsOf,
  paymentWithin,
  type Question,
  whatBecameOf,
} from './service.ts'
