export type { KybDeps } from './parts.ts'
export { approvedCohortOf, decideKyb, fileKyb, kybOf, listKyb, readKyb } from './service.ts'
