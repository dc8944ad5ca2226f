export { eraseAnswers, removeExpiredKeys } from './service.ts'
