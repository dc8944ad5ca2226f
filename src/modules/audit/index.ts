export {
  audit,
  audited,
  exportAudit,
  type FailedLogin,
  forgetOldAudit,
  listAudit,
  noteFailedLogin,
  type Tell,
  timesDone,
} from './service.ts'
