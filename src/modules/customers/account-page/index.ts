export type { AccountPageDeps, PageAction } from './providers.ts'
export { openPage, sendPage } from './service.ts'
