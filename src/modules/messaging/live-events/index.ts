export { type ImportResult, publishLostImports, type RunningImport, runReportedImport } from './imports.ts'
export { liveMetrics } from './metrics.ts'
export type { LiveDeps } from './providers.ts'
export { announceOrderStock, deleteOldEvents, publishEvent } from './service.ts'
