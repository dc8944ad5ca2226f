export type { ReturnDeps } from './providers.ts'
export { listReturns, listShopReturns, publicReturns, receiveReturn, requestReturn, settleReturnRequest } from './service.ts'
