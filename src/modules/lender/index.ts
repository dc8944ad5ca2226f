export type { LenderDeps } from './parts.ts'
export { changeLender, createLender, listLenders, readLender } from './service.ts'
