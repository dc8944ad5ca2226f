export { changePassword } from './service.ts'
export { beginTotp, confirmTotp, removeTotp } from './totp.ts'
