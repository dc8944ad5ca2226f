export type { TrustDeps } from './parts.ts'
export { addCounts } from './registry.ts'
