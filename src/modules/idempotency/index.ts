export { forgetExpiredKeys } from './service.ts'
