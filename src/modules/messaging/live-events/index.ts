export { publishLostImports, runReportedImport } from './imports.ts'
export { liveMetrics } from './metrics.ts'
export type { LiveDeps } from './providers.ts'
export { announceOrderStock, deleteOldEvents, type LiveEventEntry, publishEvent } from './service.ts'
