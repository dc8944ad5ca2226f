export { noteRepeated } from './answer.ts'
export { shownDigestOf } from './answer-view.ts'
export { agentSessionFindings } from './check-store.ts'
export { completeSession } from './complete.ts'
export { assertNoCardNumber } from './contents.ts'
export { findSessionOfCart, loadSession } from './load.ts'
export type { AgentSessionDeps } from './providers.ts'
export {
  cancelSession,
  createAgentCart,
  createSession,
  forgetSessions,
  loadCurrentSession,
  openSession,
  readSession,
  replaceSession,
} from './service.ts'
