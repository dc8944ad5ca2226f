export { type LinkWay, linkIn, waysByLink } from './by-link.ts'
export { type Choices, choosePayment, type Offering, paymentsOffered } from './choosing.ts'
export { dueMessages, forgetPaymentMessages, leaveMessage, paymentOfMessage, receiveMessage, type Sent, takeMessage } from './inbox.ts'
export { paymentMetrics } from './metrics.ts'
export { abandonPayment, noteCapture, noteNames, noteNothing, noteProgress, noteRefunded, takenBy } from './notes.ts'
export type { PaymentDeps } from './parts.ts'
export {
  endSweepTurn,
  keepNames,
  keepPaidName,
  markToAsk,
  paymentOfCallback,
  paymentsToAsk,
  takeAskingTurn,
  takeSweepTurn,
} from './questions.ts'
export {
  type Asked,
  askProcessor,
  askRefund,
  beginPayment,
  canBeAsked,
  capturedPayment,
  endLeases,
  lockPaymentsAsKnown,
  type PaymentAnswer,
  paymentsOf,
  paymentsWithin,
  promisesOf,
  type Question,
  whatBecameOf,
} from './service.ts'
