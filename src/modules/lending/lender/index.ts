export type { LenderDeps } from './providers.ts'
export { changeLender, createLender, findLender, listLenders, lockLender, readLender } from './service.ts'
