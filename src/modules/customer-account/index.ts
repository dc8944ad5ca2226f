export type { CustomerAccountDeps } from './parts.ts'
export { ownOrders, sendVerification, verifyOwn } from './service.ts'
