/** The write-ahead log of an embedded database, shipped every few seconds to where backups are kept. */
export {
  goesOn,
  headAndRest,
  instanceOf,
  pagesName,
  planRestore,
  type RestorePlan,
  reach,
  type SegmentHead,
  type Shipped,
  type SnapshotHead,
  segmentHeadOf,
  shippedOf,
  shippedPrefix,
} from './domain.ts'
export { logShippingMetrics } from './metrics.ts'
export type { LogShippingDeps } from './parts.ts'
export { shipLog } from './start.ts'
