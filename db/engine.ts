import type { SQL } from 'drizzle-orm'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'

type Builders = BaseSQLiteDatabase<'async', unknown>
/** Builders of prepared queries. */
export type Queries = Pick<Builders, 'select' | 'selectDistinct' | 'insert' | 'update' | 'delete'>
/** Values of placeholders by name. */
export type Values = Readonly<Record<string, unknown>>
/** SQLite returns values, PostgreSQL promises. */
export type MaybePromise<T> = T | Promise<T>

/** A prepared query; see db/prepared.ts. */
export type Prepared<Row, Kind extends 'read' | 'change' = 'read' | 'change'> = { readonly compiled: Compiled<Row>; readonly kind?: Kind }
/** A compiled query. */
export type Compiled<Row> = {
  readonly text: string
  /** Name under which a server caches the plan. */
  readonly name: string
  /** Orders the parameter values. Throws if one is missing. */
  bind(values: Values): unknown[]
  /** Decodes a row of the driver, in place if possible. */
  finish(row: Record<string, unknown>): Row
  /** The change must affect a row, or the read must find one; otherwise `run` throws NothingChanged. */
  readonly sure?: boolean
  /** A change without rows: `first` returns an empty object if it changed a row. Only `first` runs it. */
  readonly isRowless?: boolean
  readonly placement?: BatchPlacement | undefined
}
/** How a statement takes part in a group commit. Without a placement it cannot. */
export type BatchPlacement =
  /** It locks or changes one row of a table, identified by the value `by`. Rows are locked in a fixed order. */
  | { readonly kind: 'row'; readonly table: string; readonly by: string }
  /** It inserts rows. Inserts of all writes are merged in the statement `many` with the value `rows`. */
  | { readonly kind: 'new'; readonly table: string; readonly many: Compiled<never> }
  /** It runs after the earlier statements of its write and locks nothing. */
  | { readonly kind: 'behind' }

type Runs<Kind extends 'read' | 'change'> = {
  /** Returns the first row. */
  first<Row>(query: Prepared<Row, Kind>, values?: Values): MaybePromise<Row | undefined>
  /** Returns all rows. */
  all<Row>(query: Prepared<Row, Kind>, values?: Values): MaybePromise<Row[]>
  /** Runs hand-written SQL. Both engines bind parameters alike. */
  rows<T>(query: SQL): Promise<T[]>
}

/** Queries without a transaction: each statement sees the data committed before it. */
export type Reader = Pick<Builders, 'select' | 'selectDistinct'> &
  Runs<'read'> & {
    /**
     * Runs several prepared reads in one snapshot, which is also cheaper. Engines that respond synchronously need this.
     */
    inSnapshot<T>(reads: () => T): T
  }

/** Queries of one write. All are stored, or none. */
export type Writer = Pick<Builders, 'select' | 'insert' | 'update' | 'delete'> &
  Runs<'read' | 'change'> & {
    /**
     * Runs a statement without a result. PostgreSQL does not wait: later statements and the commit follow at once. If
     * it fails, the write fails.
     */
    run(query: Prepared<never, 'change'>, values?: Values): MaybePromise<void>
    /** Runs after the commit, before the caller of the write continues. For in-memory state only. */
    afterCommit(effect: () => void): void
  }

/**
 * Isolation of concurrent writes.
 * - `serializable`: as if the write ran alone. The engine detects conflicts and runs a write again.
 * - `locking`: the write locks each row that it decides on by `prepareLocking`, in the lock order of db/README.md,
 * before it reads it. Other reads see committed data as of each statement.
 */
export type WriteOptions = {
  readonly isolation?: 'serializable' | 'locking'
  /**
   * For frequent `locking` writes that wait for nothing. Writes of one group that arrive during a commit share the next
   * transaction. A write that does not fit runs alone.
   */
  readonly group?: string
}

/** Each statement sees committed data as of its start. The caller closes the reader. */
export type BackgroundReader = Pick<Reader, 'rows'> & { close(): void }

/** An open database of either engine. */
export interface Database {
  /** Sees committed data only. */
  readonly read: Reader
  /**
   * Runs `work` in a transaction and resolves after the durable commit. Writes may share a commit, and an engine may
   * run `work` again, so it must have no external effect and await only its own queries.
   * @param options default: `serializable`
   * @throws errors of `work`, and nothing is stored; DatabaseFull or DatabaseUnavailable if it cannot be stored now;
   *   DatabaseOutcomeUnknown if the commit's outcome is unknown
   */
  write<T>(work: (tx: Writer) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Opens a reader for slow queries in the background. With SQLite it is a thread of the lowest priority. */
  backgroundReader(): BackgroundReader
  /**
   * Changes with every commit of any process; undefined if only a query could tell, and then nothing may be cached.
   * Read it before computing a cached value.
   */
  version(): number | undefined
  /** Changes with commits of other processes; undefined if only a query could tell. */
  foreignVersion(): number | undefined
  /**
   * Whether the next start would find this file. False after it was deleted or replaced: writes still succeed, but are
   * lost when the process ends.
   */
  isInPlace(): boolean
  readonly stats: DatabaseStats
  /** The database file; undefined with PostgreSQL. */
  readonly file: DatabaseFile | undefined
  /** Checkpoints the write-ahead log without blocking. Returns the log's length in bytes; undefined without a log. */
  checkpoint(): Promise<number | undefined>
  /** Completes queued writes, then closes. */
  close(): Promise<void>
}

/** A file that the database refers to. `size`: unsealed bytes. */
export type NamedDocument = {
  readonly store: 'FILES' | 'S3' | 'MEDIA_FILES' | 'MEDIA_S3'
  readonly storageName: string
  readonly size: number
}

/** Metadata of a copy of the database file. */
export type FileFigures = {
  readonly bytes: number
  /** Hex. */
  readonly sha256: string
  /** Rows per table. */
  readonly rows: Readonly<Record<string, number>>
  /** Tags of the applied migrations. */
  readonly migrations: readonly string[]
  /** Versions of the encryption keys that its secrets need. */
  readonly keys: readonly string[]
  /** Version of the first key of the database, which identifies the instance; `none` for a new one. */
  readonly instance: string
  readonly documents: readonly NamedDocument[]
}

/** A copy with a temporary name. */
export type FileCopy = FileFigures & {
  readonly path: string
  /** Deletes the copy. */
  drop(): void
}

/** A database file, and background operations on it in another thread. */
export type DatabaseFile = {
  /**
   * Copies what is committed, checks the copy (integrity and foreign keys), counts it and syncs it.
   * @param target future name of the copy; its leftovers of a crash are deleted
   * @param onBytes called with the size of the copy
   * @throws DatabaseRefused if the database is damaged
   */
  copy(target: string, onBytes?: (bytes: number) => void): Promise<FileCopy>
  /** Lists the files that the database refers to. */
  documents(): Promise<readonly NamedDocument[]>
  /** Returns the problems that SQLite's quick check finds; it skips index contents. */
  quickCheck(): Promise<string[]>
  /** Sizes of the file and its write-ahead log. */
  sizes(): { bytes: number; logBytes: number }
  /**
   * Prevents that log frames are overwritten until `followLog` has started. Call it before the first write: frames from
   * before a crash may be nowhere else.
   */
  holdLog(): void
  /** Ends `holdLog` without following. */
  releaseLog(): void
  /** Deletes the parts of the log that were spooled and not shipped. */
  dropUnshipped(): void
  createReserve(): void
  /**
   * Starts following all commits.
   * @param shipped continues after this position if possible
   */
  followLog(shipped?: ShippedLog): Promise<CommitLog>
}

/** Cumulative checksum of a write-ahead log. */
export type LogSum = readonly [number, number]

/** One generation of the log: from its first frame until it restarts with other salts. */
export type LogHeader = { readonly salt1: number; readonly salt2: number; readonly pageSize: number; readonly sum: LogSum }

/** Consecutive commits of one log generation. */
export type LogRange = {
  readonly header: LogHeader
  /** Frames before the range, and up to its last one. */
  readonly from: number
  readonly to: number
  /** Checksum before the first frame. */
  readonly sum: LogSum
  /** Checksum after the last frame. */
  readonly end: LogSum
}

/** Disk usage of log following. */
export type LogLengths = {
  /** Length of the log. */
  readonly logBytes: number
  /** Bytes that were read and not shipped. */
  readonly waitingBytes: number
  /** Another connection's read prevents the log from restarting. */
  readonly isHeldByOthers: boolean
}

/** The end of the shipped part of the log. */
export type ShippedLog = {
  readonly header: LogHeader
  readonly frame: number
  readonly sum: LogSum
  /** Result of `finish` when the whole log was in the file. */
  readonly mark?: string | undefined
  /**
   * The mark of the file when `holdLog` was called. Frames that were only in the log then still are, though they may be
   * in the file too.
   */
  readonly markWhenHeld?: string | undefined
}

/**
 * Streams commits from the log. Frames are not overwritten before they are marked as shipped, so a slow consumer lets
 * the log grow.
 */
export type CommitLog = {
  /** Whether it continues after the given position without a gap; otherwise it starts with the current log. */
  readonly continues: boolean
  /**
   * Reads all new commits.
   * @returns the number of unshipped ranges
   * @throws LogBroken
   */
  read(): Promise<number>
  /**
   * Returns the first unshipped range; undefined if there is none.
   * @throws LogBroken
   */
  next(): Promise<LogRange | undefined>
  /** The frames of that range as compressed pieces, in order. */
  pieces(): AsyncGenerator<Uint8Array>
  /** Marks the range that `next` returned as shipped. */
  markShipped(): Promise<void>
  /**
   * Checkpoints a long log so that it restarts. Call it several times a second.
   * @throws LogBroken
   */
  checkpointLong(): Promise<LogLengths>
  /** Discards unshipped frames, truncates the log and closes. */
  discard(): Promise<void>
  /**
   * Streams the database file in compressed pieces while it is in use. With all commits of the log until its end
   * applied, it is a consistent database.
   */
  file(): AsyncGenerator<Uint8Array>
  /**
   * Checkpoints the whole log.
   * @returns a mark: while the file has it, later commits are in the log; undefined if frames are unshipped (they are
   *   in the spool) or another connection blocks
   */
  finish(): Promise<string | undefined>
  /** Ends following, and lets the log restart. Pending calls throw. */
  close(): Promise<void>
}

/** The log has a gap, or is unreadable. */
export class LogBroken extends Error {
  override readonly name = 'LogBroken'
}

/** Counts per bucket, one more than bounds, and the sum. */
export type Histogram = { readonly bounds: readonly number[]; readonly buckets: number[]; sum: number }

/** Connections of a pool. */
export type PoolFigures = {
  readonly pool: 'write' | 'read'
  readonly max: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

/** Cumulative counts since the start, except `queued`: the writes that wait now. */
export type DatabaseStats = {
  writes: number
  commits: number
  retries: number
  queued: number
  /** Commit durations in seconds. */
  readonly commitSeconds: Histogram
  /** Writes per commit. */
  readonly commitWorks: Histogram
  /** PostgreSQL only. */
  readonly pools?: () => readonly PoolFigures[]
}

/** The program cannot use the database; the message says what to do. */
export class DatabaseRefused extends Error {
  override readonly name = 'DatabaseRefused'
}

/** The disk is full: the write was not stored. Reads continue, and a retry may succeed. */
export class DatabaseFull extends Error {
  override readonly name = 'DatabaseFull'
}

/** The database cannot store the write now (locked, unreachable, too slow, too many conflicts). A retry may succeed. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
}

/** The connection broke during the commit: the write is stored completely or not at all. Only a read can tell. */
export class DatabaseOutcomeUnknown extends Error {
  override readonly name = 'DatabaseOutcomeUnknown'
}

/** The row to change is missing or differs: the write was not stored. */
export class NothingChanged extends Error {
  override readonly name = 'NothingChanged'
}

/**
 * Returns whether a write failed because of the database, not because of its content. Looks through drizzle's wrappers.
 */
export function isDatabaseAway(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof DatabaseFull || cause instanceof DatabaseUnavailable || cause instanceof DatabaseOutcomeUnknown) return true
  }
  return false
}

/**
 * Returns the engine's error code, such as `SQLITE_FULL` or `23505`; undefined for other errors. Looks through
 * drizzle's wrappers.
 */
export function engineErrorCode(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  }
  return undefined
}

/** Returns whether a write violated a unique key. */
export function isUniqueViolation(error: unknown): boolean {
  const code = engineErrorCode(error)
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** Returns whether a write violated a NOT NULL constraint. */
export function isNullViolation(error: unknown): boolean {
  const code = engineErrorCode(error)
  return code === '23502' || code === 'SQLITE_CONSTRAINT_NOTNULL'
}
