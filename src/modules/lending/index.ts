export {
  checklist,
  createApplication,
  createApplicationFor,
  listApplications,
  readApplication,
  submitApplication,
  updateApplication,
  withdrawApplication,
} from './applications.ts'
export { checklistOf } from './checklist.ts'
export { decide, listQueue, readWhole } from './decisions.ts'
export { withUploaded } from './documentation.ts'
export type { LendingDeps } from './parts.ts'
