export type { PlatformDeps } from './providers.ts'
export { identifyPlatform, type PlatformRequest } from './service.ts'
