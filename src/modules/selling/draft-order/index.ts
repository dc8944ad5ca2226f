export { draftFindings } from './check-store.ts'
export { fieldsIn } from './form.ts'
export { type CartLink, findLinkedDraft, openPayPage, sendPayPage } from './pay-draft.ts'
export type { DraftDeps } from './providers.ts'
export {
  changeDraft,
  countOpenDrafts,
  createDraft,
  draftsPage as pieceOfDrafts,
  listDrafts,
  readDraft,
  removeDraft,
  sendDraft,
} from './service.ts'
