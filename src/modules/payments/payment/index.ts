export { type LinkWay, linkIn, waysByLink } from './hosted-page.ts'
export { dueMessages, forgetPaymentMessages, leaveMessage, paymentOfMessage, receiveMessage, type Sent, takeMessage } from './inbox.ts'
export { paymentMetrics } from './metrics.ts'
export type { PaymentDeps } from './providers.ts'
export { abandonPayment, noteCapture, noteNames, noteNothing, noteProgress, noteRefunded, takenBy } from './record-answer.ts'
export { type Choices, choosePayment, type Offering, paymentsOffered } from './select-processor.ts'
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
export {
  endSweepTurn,
  keepNames,
  keepPaidName,
  markToAsk,
  paymentOfCallback,
  paymentsToAsk,
  takeAskingTurn,
  takeSweepTurn,
} from './status-query.ts'
