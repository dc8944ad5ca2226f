export { type Check, metrics, readiness } from './service.ts'
