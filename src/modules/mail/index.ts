export type { MailDeps } from './parts.ts'
export { type NewMail, queueMail, sendsMail } from './queueing.ts'
