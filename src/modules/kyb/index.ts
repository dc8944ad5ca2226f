export type { KybDeps } from './parts.ts'
export { approvedCohortOf, decideKyb, fileKyb, kybOf, legalNamesOf, listKyb, readKyb } from './service.ts'
