export { ownHistory } from './own-status.ts'
export type { PlatformDeps } from './providers.ts'
export { noteEnd, noteStart, refreshOperations, tendProcess } from './service.ts'
