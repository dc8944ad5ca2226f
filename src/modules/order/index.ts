export { orderFindings } from './check-store.ts'
export { diagnoseOrder, type OrderDiagnosis, type StuckOrder, stuckOrders } from './diagnosis.ts'
export { noteDispute, type ToldDispute } from './disputes.ts'
export { type Drive, requestDrive } from './drive.ts'
export { fillOrderSearch, fillUnknownOrders, reindexOrder } from './finding.ts'
export { heedCallback, heedMessage, workMessages } from './inbox.ts'
export { orderMetrics, ordersByStatus, unfinishedOrders } from './metrics.ts'
export { changeFulfilment, noteOrder, readFulfilment } from './parcels.ts'
export type { OrderDeps } from './parts.ts'
export { payAgain, placeOrder } from './placing.ts'
export { settleByHand } from './refund-requests.ts'
export { expireOrders, resumeOrders } from './resuming.ts'
export { orderRows } from './rows.ts'
export { completeOrder, giveUpPayment, returnToSaga, sagaOnReturn } from './saga.ts'
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
export { sweepPayments } from './sweeping.ts'
export { takeOrderBack } from './taking-back.ts'
export { holdFinished } from './unfinished.ts'
export { fulfilmentView, type OrderView, orderView, type WholeOrder, withoutReasons } from './view.ts'
