export type { AccountPageDeps, PageAction, PageForm, PageOutcome } from './providers.ts'
export { openPage, sendPage } from './service.ts'
