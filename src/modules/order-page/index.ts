export { orderByLink, orderPage, receiptPage } from './service.ts'
export type { PublicOrder } from './shown.ts'
