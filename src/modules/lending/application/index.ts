export {
  appendEvent,
  createApplication,
  createApplicationFor,
  findApplication,
  listApplications,
  noSuchApplication,
  readApplication,
  readChecklist,
  submitApplication,
  updateApplication,
  withdrawApplication,
} from './applications.ts'
export { acceptedTypes, checklistOf } from './checklist.ts'
export { decide, listQueue, readAdminApplication } from './decisions.ts'
export { markRemoved, markUploaded } from './documentation.ts'
export type { LendingDeps } from './providers.ts'
