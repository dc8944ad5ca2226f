/** The write-ahead log of an embedded database, shipped every few seconds to where backups are kept. */
export {
  instanceOf,
  pagesName,
  parseShippedName,
  planRestore,
  type RestorePlan,
  restorableRange,
  type ShippedFile,
  shippedKeysName,
  shippedPrefix,
} from './domain.ts'
export { continuesSegment, type SegmentHead, type SnapshotHead, segmentHeadOf, splitHeader } from './file-headers.ts'
export { logShippingMetrics } from './metrics.ts'
export type { LogShippingDeps } from './providers.ts'
export { shipLog } from './start.ts'
export { backupsView } from './status-view.ts'
