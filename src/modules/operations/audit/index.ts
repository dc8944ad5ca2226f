export {
  accountsOf,
  audit,
  audited,
  countActions,
  exportAudit,
  type FailedLogin,
  listAudit,
  nthLastActionAt,
  recordFailedLogin,
  removeOldAudit,
  type SetDifference,
  searchAudit,
} from './service.ts'
