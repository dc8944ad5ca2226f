export { audit, audited, timesDone } from './service.ts'
