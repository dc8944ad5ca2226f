export { audit, audited, nthLastTime, timesDone } from './service.ts'
