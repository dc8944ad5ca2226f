export type { PasswordResetDeps } from './parts.ts'
export { askForReset, offerClaim, resetOf, resetPassword } from './service.ts'
