export { changePassword } from './service.ts'
