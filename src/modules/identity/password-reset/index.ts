export type { PasswordResetDeps } from './providers.ts'
export { findReset, offerAccountClaim, requestReset, resetPassword } from './service.ts'
