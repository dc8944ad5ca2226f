export { type AccountPageDeps, type AccountPageKind, type PageAction, type PageForm, type PageOutcome, pageKinds } from './parts.ts'
export { openPage, sendPage } from './service.ts'
