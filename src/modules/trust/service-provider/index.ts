export { emptyOldMessages, ingest } from './ingestion.ts'
export type { ServiceProviderDeps } from './providers.ts'
export { changeProvider, createProvider, listProviders, readProvider, recommend, rotateSecret } from './service.ts'
