export type { PublicOrder } from './public-order.ts'
export { orderByLink, orderPage, receiptPage } from './service.ts'
