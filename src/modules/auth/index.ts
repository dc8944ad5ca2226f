export type { AuthDeps } from './parts.ts'
export {
  checkPassword,
  countAttempt,
  countFailure,
  endSession,
  forgetExpiredSessions,
  type Login,
  refreshSession,
  startSession,
} from './service.ts'
