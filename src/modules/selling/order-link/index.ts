export type { OrderLinkDeps } from './providers.ts'
