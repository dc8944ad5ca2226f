export type { OperationsDeps } from './parts.ts'
export { type Check, metrics, readiness } from './service.ts'
