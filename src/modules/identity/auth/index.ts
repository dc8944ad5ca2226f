export { type CodeCaller, findByCode } from './code-attempts.ts'
export { assertUncommonPassword, isCommonPassword } from './common-passwords.ts'
export type { AuthDeps } from './providers.ts'
export {
  checkPassword,
  countAttempt,
  countFailure,
  deleteExpiredSessions,
  endSession,
  type Login,
  refreshSession,
  type SessionStart,
  shopOfRefreshToken,
  startSession,
} from './service.ts'
export { endOtherSessions, endOwnSession, endSessionsOf, type LoggedIn, listOwnSessions } from './session-list.ts'
