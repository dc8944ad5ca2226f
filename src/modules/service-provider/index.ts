export { emptyOldMessages, ingest } from './ingesting.ts'
export type { ServiceProviderDeps } from './parts.ts'
export { changeProvider, createProvider, listProviders, readProvider, recommend, rotateSecret } from './service.ts'
