export type { PasswordResetDeps } from './parts.ts'
export { askForReset, resetOf, resetPassword } from './service.ts'
