export type { CustomerAccountDeps } from './base.ts'
export { ownOrders, sendVerification, verifyOwn } from './service.ts'
