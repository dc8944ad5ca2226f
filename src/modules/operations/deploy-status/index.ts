export { ownHistory } from './own-status.ts'
export type { PlatformDeps } from './providers.ts'
export { recordHeartbeat, recordStart, recordStop, refreshOperations } from './service.ts'
