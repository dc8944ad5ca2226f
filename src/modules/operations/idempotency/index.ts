export { eraseAnswers, forgetExpiredKeys } from './service.ts'
