export type { KybDeps } from './providers.ts'
export { approvedCohortOf, decideKyb, fileKyb, findKybOf, listBusinesses, listKyb, readKyb } from './service.ts'
