/** Says that this process runs, and writes down which errors it has logged. */
export { tendProcess } from '../src/modules/platform/index.ts'
