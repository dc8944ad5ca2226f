export type { CustomerAccountDeps } from './deps.ts'
export { listOwnOrders, sendVerification, verifyOwnAddress } from './service.ts'
