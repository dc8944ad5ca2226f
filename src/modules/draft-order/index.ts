export { draftFindings } from './check-store.ts'
export type { DraftDeps } from './parts.ts'
export { type Once, openPayPage, sendPayPage } from './paying.ts'
export { changeDraft, createDraft, listDrafts, readDraft, removeDraft, sendDraft } from './service.ts'
