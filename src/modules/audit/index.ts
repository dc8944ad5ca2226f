export {
  audit,
  audited,
  exportAudit,
  type FailedLogin,
  forgetOldAudit,
  listAudit,
  noteFailedLogin,
  nthLastTime,
  type Tell,
  timesDone,
} from './service.ts'
