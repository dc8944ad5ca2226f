export type { Outcome } from './board.ts'
export { beatPattern, type JobView } from './domain.ts'
export type { JobDeps } from './parts.ts'
export { assertJob, jobLines, listJobs, requestRun, storedJobs } from './service.ts'
