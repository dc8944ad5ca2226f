export type { DraftDeps } from './parts.ts'
export { changeDraft, createDraft, listDrafts, readDraft, removeDraft } from './service.ts'
