export { changePassword } from './service.ts'
export { beginTotp, confirmTotp, readTotp, removeTotp } from './totp.ts'
