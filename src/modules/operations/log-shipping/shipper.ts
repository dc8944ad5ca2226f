/** The state of a running shipper, which its files share. */
import type { CommitLog, ShippedLog } from '../../../../db/engine.ts'
import type { BackupStore } from '../../../core/backup-store.ts'
import type { Deps } from '../../../core/deps.ts'
import type { createShipperClaim } from './claim.ts'
import type { SnapshotHead } from './file-headers.ts'
import type { LogShippingDeps } from './providers.ts'
import type { Timeline } from './timeline.ts'

export type ShippingDeps = Pick<Deps, 'clock' | 'log' | 'sleep' | 'randomBytes' | 'diskFree' | 'config' | 'build'> & LogShippingDeps

export type ShippingOptions = {
  /** Retried until it responds. */
  readonly openStore: () => Promise<BackupStore>
  readonly followLog: (shippedEnd?: ShippedLog) => Promise<CommitLog>
  /** Releases a log that was held since the start to be continued. */
  readonly releaseLog: () => void
  /** Of the database file and its log. */
  readonly sizes: () => { bytes: number; logBytes: number }
  readonly everyMs: number
  /** The limit of the log and of read but unshipped data. */
  readonly heldMaxBytes?: number
  /** The current key file, if the store seals its content. */
  readonly keysText: () => string | undefined
  /** Eight hex digits that identify the instance in the target. */
  readonly instance: string
  /** Identifies the data directory; see `createShipperClaim`. */
  readonly shipper: string
}

/** `first`: the first segment that the copy needs; `content`: of the stored pages, once the copy is complete. */
export type SnapshotCopy = { readonly first: number; readonly begunAt: number; content?: Pick<SnapshotHead, 'bytes' | 'sha256'> }

/** One log that is shipped to one generation, until the log is lost or the shipper stops. */
export type ShippingSession = {
  readonly store: BackupStore
  readonly log: CommitLog
  readonly time: Timeline
  readonly generation: string
  /** The index of the next segment. */
  next: number
  /** The first segment of the log's present life. Everything before is in the database file. */
  lifeBegan: number
  /** Identify the log's present life. */
  salts: string
  /** The time of the last segment. */
  lastAt: number | undefined
  /** A segment whose upload failed. Its retry uses the same name. */
  pending: { readonly index: number; readonly at: number } | undefined
  /** The start of the last snapshot, and the bytes of the segments since then. */
  snapshotAt: number | undefined
  bytesSince: number
  /** The running snapshot, and when the next one may start after a failure. */
  copying: SnapshotCopy | undefined
  copyAfter: number
  isRemovingFiles: boolean
  /** The key file as stored. */
  keysShipped: string | undefined
  areKeysMissing: boolean
  /** Why the log is lost: an error of the log, or `LogReleased`. */
  lostBy: unknown
  /** Rejects once the log is lost, so that nothing waits for the store. */
  readonly lost: PromiseWithResolvers<never>
}

export type Shipper = {
  readonly deps: ShippingDeps
  readonly options: ShippingOptions
  readonly claim: ReturnType<typeof createShipperClaim>
  session: ShippingSession | undefined
  /** One for all sessions, so that times never go back. */
  timeline: Timeline | undefined
  /** A stored generation is continued only by the first session. */
  isFirstSession: boolean
  /** Failed rounds in a row. */
  failures: number
  isStopping: boolean
  /** Ends the pause between two rounds. */
  woken: PromiseWithResolvers<void>
}

export const retryMaxMs = 60_000
