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
export { decide, listQueue, readWhole } from './decisions.ts'
export type { LendingDeps } from './parts.ts'
