export type { InstanceKeyDeps } from './providers.ts'
export type { InstanceKeys } from './service.ts'
