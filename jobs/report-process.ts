/** Says that this process runs, and writes down which errors it has logged. */
export { recordHeartbeat } from '../src/modules/operations/deploy-status/index.ts'
