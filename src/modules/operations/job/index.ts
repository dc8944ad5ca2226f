export { heartbeatPattern, type JobView } from './domain.ts'
export type { JobDeps } from './providers.ts'
export type { RunOutcome } from './runner-state.ts'
export { assertJob, jobLines, listJobs, requestRun, storedJobs } from './service.ts'
