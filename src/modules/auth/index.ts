export { type CodeTrier, tryCode } from './code-tries.ts'
export { assertUncommon, isCommonPassword } from './common-passwords.ts'
export { endOtherSessions, endOwnSession, endSessionsOf, type LoggedIn, ownSessions } from './own-sessions.ts'
export type { AuthDeps } from './parts.ts'
export {
  type Beginning,
  checkPassword,
  countAttempt,
  countFailure,
  endSession,
  forgetExpiredSessions,
  type Login,
  refreshSession,
  shopOfRefreshToken,
  startSession,
} from './service.ts'
