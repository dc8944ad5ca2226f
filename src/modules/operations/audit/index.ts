export {
  accountsOf,
  audit,
  audited,
  exportAudit,
  type FailedLogin,
  forgetOldAudit,
  foundAudit,
  listAudit,
  noteFailedLogin,
  nthLastTime,
  type Tell,
  timesDone,
} from './service.ts'
