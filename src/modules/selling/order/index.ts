export { orderFindings } from './check-store.ts'
export { correctOrder } from './correct-order.ts'
export { appendEvent } from './events.ts'
export { fulfilOrders } from './fulfilment/bulk-fulfilment.ts'
export { addOrderNote, changeFulfilment, readFulfilment } from './fulfilment/fulfilments.ts'
export { restockableUnits, unitsOf } from './fulfilment/units.ts'
export { creditedTaxes } from './invoice/credited-taxes.ts'
export { type CreditedRefund, type InvoiceRecord, issueInvoice } from './invoice/invoices.ts'
export { orderMetrics, ordersByStatus, unfinishedOrders } from './metrics.ts'
export { cancelUnpaidOrder } from './placing/cancel-checkout.ts'
export { placeOrder, startNewPayment } from './placing/place-order.ts'
export type { OrderDeps } from './providers.ts'
export { stockTrackedLines } from './refunds/refund-effects.ts'
export { recordRefund, settleByHand } from './refunds/refund-requests.ts'
export { settleRefund } from './refunds/refunds.ts'
export { diagnoseOrder, type OrderDiagnosis, type StuckOrder, stuckOrders } from './saga/diagnosis.ts'
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
  goodsOf,
  listOrders,
  listRefunds,
  lockOrder,
  markOrderPaid,
  noSuchOrder,
  orderOfAttempt,
  orderOfCart,
  readFullOrder,
  readOrder,
  readRefund,
  refundOrder,
} from './service.ts'
export { type TaxTotal, taxTotalsOf } from './tax-totals.ts'
export { type FullOrder, fulfilmentView, type OrderView, orderView, withoutReasons, withoutTags } from './view.ts'
