export type { PlatformDeps } from './providers.ts'
export { ownHistory } from './own-status.ts'
export { noteEnd, noteStart, refreshOperations, tendProcess } from './service.ts'
