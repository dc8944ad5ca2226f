export type { PlatformDeps } from './parts.ts'
export { ownHistory } from './self.ts'
export { noteEnd, noteStart, refreshOperations, tendProcess } from './service.ts'
