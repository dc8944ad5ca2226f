export { heartbeatPattern, type JobView } from './domain.ts'
export type { RunOutcome } from './job-status.ts'
export type { JobDeps } from './providers.ts'
export { assertJob, jobLines, listJobs, requestRun, storedJobs } from './service.ts'
