export type { PlatformDeps } from './parts.ts'
export { noteEnd, noteStart, refreshOperations, tendProcess } from './service.ts'
