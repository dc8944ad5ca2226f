export { orderFindings } from './check-store.ts'
export { changeFulfilment, noteOrder, readFulfilment } from './fulfilment/fulfilments.ts'
export { orderMetrics, ordersByStatus, unfinishedOrders } from './metrics.ts'
export { takeOrderBack } from './placing/cancel-checkout.ts'
export { payAgain, placeOrder } from './placing/place-order.ts'
export type { OrderDeps } from './providers.ts'
export { settleByHand } from './refunds/refund-requests.ts'
export { diagnoseOrder, type OrderDiagnosis, type StuckOrder, stuckOrders } from './saga/diagnosis.ts'
export { noteDispute, type ToldDispute } from './saga/disputes.ts'
export { sweepPayments } from './saga/late-payments.ts'
export { heedCallback, heedMessage, workMessages } from './saga/payment-messages.ts'
export { expireOrders, resumeOrders } from './saga/resume-orders.ts'
export { completeOrder, giveUpPayment, returnToSaga, sagaOnReturn } from './saga/saga.ts'
export { type Drive, requestDrive } from './saga/saga-context.ts'
export { holdFinished } from './saga/unfinished-orders.ts'
export { orderRows } from './search/order-rows.ts'
export { fillOrderSearch, fillUnknownOrders, reindexOrder } from './search/search-index.ts'
export {
  cancelOrder,
  completeFulfilled,
  createFulfilment,
  findOrder,
  fulfilOrder,
  listOrders,
  listRefunds,
  orderOfAttempt,
  orderOfCart,
  readOrder,
  readRefund,
  refundOrder,
  wholeOrder,
} from './service.ts'
export { fulfilmentView, type OrderView, orderView, type WholeOrder, withoutReasons } from './view.ts'
