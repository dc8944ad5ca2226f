export type { AccountPageDeps, PageAction, PageForm, PageOutcome } from './parts.ts'
export { openPage, sendPage } from './service.ts'
