export type { AccountPageDeps, PageAction } from './providers.ts'
export { openPage, submitPage } from './service.ts'
