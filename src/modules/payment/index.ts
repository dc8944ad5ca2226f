export { choosePayment } from './choosing.ts'
export { abandonPayment, noteCapture, noteNothing, noteProgress, noteRefunded, takenBy } from './notes.ts'
export type { PaymentDeps } from './parts.ts'
export {
  type Asked,
  askProcessor,
  askRefund,
  beginPayment,
  capturedPayment,
  endLeases,
  type PaymentAnswer,
  paymentOfMessage,
  paymentsOf,
  paymentsWithin,
  promisesOf,
  type Question,
  whatBecameOf,
} from './service.ts'
