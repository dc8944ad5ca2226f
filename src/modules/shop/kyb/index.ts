export type { KybDeps } from './providers.ts'
export { approvedCohortOf, businessesOf, decideKyb, fileKyb, kybOf, listKyb, readKyb } from './service.ts'
