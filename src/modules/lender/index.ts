export type { LenderDeps } from './parts.ts'
export { changeLender, createLender, findLender, listLenders, lockLender, readLender } from './service.ts'
