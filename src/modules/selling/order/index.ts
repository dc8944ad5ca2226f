export { orderFindings } from './check-store.ts'
export { addOrderNote, changeFulfilment, readFulfilment } from './fulfilment/fulfilments.ts'
export { orderMetrics, ordersByStatus, unfinishedOrders } from './metrics.ts'
export { cancelUnpaidOrder } from './placing/cancel-checkout.ts'
export { placeOrder, startNewPayment } from './placing/place-order.ts'
export type { OrderDeps } from './providers.ts'
export { settleByHand } from './refunds/refund-requests.ts'
export { diagnoseOrder, type OrderDiagnosis, type StuckOrder, stuckOrders } from './saga/diagnosis.ts'
export { type ReportedDispute, recordDispute } from './saga/disputes.ts'
export { handleCallback, handleWebhook, workMessages } from './saga/payment-messages.ts'
export { expireOrders, resumeOrders, sweepPayments } from './saga/resume-orders.ts'
export { loadSaga, refreshSaga, refreshSagaOnReturn, runSaga, voidOpenPayment } from './saga/saga.ts'
export { requestSagaContext, type SagaContext, type SagaRun } from './saga/saga-context.ts'
export { orderRows } from './search/order-rows.ts'
export { fillOrderSearch, fillUnknownOrders, reindexOrder } from './search/search-index.ts'
export {
  assertAllOrdersFinished,
  cancelOrder,
  completeFulfilled,
  createFulfilment,
  findOrder,
  fulfilOrder,
  listOrders,
  listRefunds,
  orderOfAttempt,
  orderOfCart,
  readFullOrder,
  readOrder,
  readRefund,
  refundOrder,
} from './service.ts'
export { type FullOrder, fulfilmentView, type OrderView, orderView, withoutReasons } from './view.ts'
