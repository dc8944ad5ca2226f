export type { OrderDeps } from './parts.ts'
export { payAgain, placeOrder } from './placing.ts'
export { completeOrder } from './saga.ts'
export {
  cancelOrder,
  completeFulfilled,
  expireOrders,
  findOrder,
  fulfilOrder,
  listOrders,
  orderOfCart,
  readOrder,
  refundOrder,
  resumeOrders,
  takeUpPayment,
} from './service.ts'
export { type OrderView, withoutReasons } from './view.ts'
