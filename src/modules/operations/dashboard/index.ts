export type { OperationsDeps } from './providers.ts'
export { type Check, metrics, readiness } from './service.ts'
