/** Records that this process runs, and the errors it logged. */
export { recordHeartbeat } from '../src/modules/operations/deploy-status/index.ts'
