export { orderByLink, orderPage, receiptPage } from './service.ts'
export type { PublicOrder } from './public-order.ts'
