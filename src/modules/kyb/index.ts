export type { KybDeps } from './parts.ts'
export { approvedCohortOf, businessesOf, decideKyb, fileKyb, kybOf, listKyb, readKyb } from './service.ts'
