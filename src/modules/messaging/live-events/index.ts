export { endLostImports, tellingImport } from './imports.ts'
export { liveMetrics } from './metrics.ts'
export type { LiveDeps } from './providers.ts'
export { type Entry, forgetLive, tellLive, tellStockOf } from './service.ts'
