export {
  appendEvent,
  applicationWithId,
  checklist,
  createApplication,
  createApplicationFor,
  listApplications,
  noSuchApplication,
  readApplication,
  submitApplication,
  updateApplication,
  withdrawApplication,
} from './applications.ts'
export { acceptedTypes, checklistOf } from './checklist.ts'
export { decide, listQueue, readWhole } from './decisions.ts'
export { withoutUploaded, withUploaded } from './documentation.ts'
export type { LendingDeps } from './providers.ts'
