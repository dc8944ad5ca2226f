export type { CustomerAccountDeps } from './deps.ts'
export { ownOrders, sendVerification, verifyOwn } from './service.ts'
