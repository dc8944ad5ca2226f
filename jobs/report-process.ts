/** Says that this process runs, and writes down which errors it has logged. */
export { tendProcess } from '../src/modules/operations/deploy-status/index.ts'
