export type { PasswordResetDeps } from './providers.ts'
export { askForReset, offerClaim, resetOf, resetPassword } from './service.ts'
