export { type AuditEntry, audit, audited, timesDone } from './service.ts'
