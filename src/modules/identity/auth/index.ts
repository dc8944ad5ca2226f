export { type CodeTrier, tryCode } from './code-attempts.ts'
export { assertUncommon, isCommonPassword } from './common-passwords.ts'
export type { AuthDeps } from './providers.ts'
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
export { endOtherSessions, endOwnSession, endSessionsOf, type LoggedIn, ownSessions } from './session-list.ts'
