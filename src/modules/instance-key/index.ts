export type { InstanceKeyDeps } from './parts.ts'
export type { InstanceKeys } from './service.ts'
