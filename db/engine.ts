import type { SQL } from 'drizzle-orm'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'

type Builders = BaseSQLiteDatabase<'async', unknown>
/** What a prepared query is built with. */
export type Queries = Pick<Builders, 'select' | 'selectDistinct' | 'insert' | 'update' | 'delete'>
/** For the placeholders of a prepared query, by name. */
export type Values = Readonly<Record<string, unknown>>
/** SQLite answers at once, Postgres by a promise. */
export type Answer<T> = T | Promise<T>

/** A query that was built once, by `prepare` of db/prepared.ts. */
export type Prepared<Row, Kind extends 'read' | 'change' = 'read' | 'change'> = { readonly compiled: Compiled<Row>; readonly kind?: Kind }
/** What an engine runs. */
export type Compiled<Row> = {
  readonly text: string
  /** Under which a server may keep its plan. */
  readonly name: string
  /** Values in the order of the parameters. Throws when one is missing. */
  bind(values: Values): unknown[]
  /** Makes a row of what the driver answered, where it can of the same object. */
  finish(row: Record<string, unknown>): Row
  /** A change that is to change a row, or a read that is to find one: `run` throws NothingChanged where it does not. */
  readonly sure?: boolean
  /** A change that has no rows: `first` gives an empty one when it has changed any, and nothing else runs it. */
  readonly told?: boolean
  readonly together?: Together | undefined
}
/** How a statement goes into one transaction with those of other works, for works of one line. One that does not say so is of none. */
export type Together =
  /** It locks, or changes, the row of a table that the value named `by` tells: rows are taken in one order. */
  | { readonly kind: 'row'; readonly table: string; readonly by: string }
  /** It inserts new rows: those of all works go by one statement, `many`, whose value `rows` they are. */
  | { readonly kind: 'new'; readonly table: string; readonly many: Compiled<never> }
  /** It goes behind what its work has sent before, and takes nothing that others may have. */
  | { readonly kind: 'behind' }

type Runs<Kind extends 'read' | 'change'> = {
  /** The first row of a prepared query. */
  first<Row>(query: Prepared<Row, Kind>, values?: Values): Answer<Row | undefined>
  /** All its rows. */
  all<Row>(query: Prepared<Row, Kind>, values?: Values): Answer<Row[]>
  /** Runs hand-written SQL for what the builders cannot say. Both engines bind parameters alike. */
  rows<T>(query: SQL): Promise<T[]>
}

export type Reader = Pick<Builders, 'select' | 'selectDistinct'> &
  Runs<'read'> & {
    /** Makes several prepared reads as of one moment, where they answer at once; and then they are cheaper together. */
    together<T>(reads: () => T): T
  }

export type Writer = Pick<Builders, 'select' | 'insert' | 'update' | 'delete'> &
  Runs<'read' | 'change'> & {
    /**
     * Runs a prepared query that has no rows. An engine may send it and go on: what comes next is sent behind it, the commit too. If it
     * fails the work has failed, whatever it does then.
     */
    run(query: Prepared<never, 'change'>, values?: Values): Answer<void>
    /** Runs once the commit is on disk, before anybody is told. For what this process remembers of the data, and no more. */
    afterCommit(effect: () => void): void
  }

/**
 * How a work is kept apart from those that run at the same time, where several can.
 * - `serializable`: as if it ran alone. The engine finds out who met whom, and runs one of them again.
 * - `locking`: the work names what it decides on: it locks each such row by `prepareLocking` before it reads it, in the order that
 *   docs/architecture.md gives. Whoever else locks or changes one of them waits; what it reads otherwise is as of each statement.
 */
export type WriteOptions = {
  readonly isolation?: 'serializable' | 'locking'
  /**
   * For a locking work that waits for nothing and is done often: those of one line that come while another is under way go together when it
   * has ended, in one transaction. One that cannot, or with which they cannot, is run by itself.
   */
  readonly line?: string
}

/** Each statement sees committed data as of its beginning. Whoever began it closes it. */
export type Aside = Pick<Reader, 'rows'> & { close(): void }

export interface Database {
  /** Sees committed data only. */
  readonly read: Reader
  /**
   * Runs `work` and resolves once its commit is on disk. Many works may share one commit, and an engine may run a
   * work again, so no outside effect belongs inside and nothing but its own queries is awaited.
   * @param options how it is kept apart from others: as if it ran alone, unless told otherwise
   * @throws what `work` throws, with nothing of it kept; DatabaseFull or DatabaseUnavailable when it cannot be stored now;
   *   DatabaseOutcomeUnknown when nobody can say whether it was
   */
  write<T>(work: (tx: Writer) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Reads that take long and that nobody waits for: where the database is a file, in a thread of its own at the lowest priority. */
  aside(): Aside
  /**
   * Changes whenever anything was committed, by this process or another; undefined where only a query could tell,
   * and then nothing may be cached. A cached answer carries the version read before it was computed.
   */
  version(): number | undefined
  /** Changes whenever another process committed; undefined where only a query could tell. */
  foreignVersion(): number | undefined
  /**
   * Whether what is written here is where the next start will look for it: false once the file was removed, or another is in its place.
   * It goes on being written to, and is gone with the process.
   */
  isInPlace(): boolean
  readonly stats: DatabaseStats
  /** The file that it is; undefined where a server keeps it. */
  readonly file: DatabaseFile | undefined
  /** Moves the write-ahead log into the file, as far as nobody has to wait. Returns the log's length in bytes; undefined where there is none. */
  checkpoint(): Promise<number | undefined>
  /** Finishes what is queued, then closes. */
  close(): Promise<void>
}

/** A file that a database names. `size`: its bytes before it was sealed. */
export type NamedDocument = {
  readonly store: 'FILES' | 'S3' | 'MEDIA_FILES' | 'MEDIA_S3'
  readonly storageName: string
  readonly size: number
}

/** What a copy of a database file holds. */
export type FileFigures = {
  readonly bytes: number
  /** In hex. */
  readonly sha256: string
  /** How many each table has. */
  readonly rows: Readonly<Record<string, number>>
  /** Tags of those that have run. */
  readonly migrations: readonly string[]
  /** Versions of the encryption keys without which its secrets cannot be read. */
  readonly keys: readonly string[]
  /** The version of the first key that it knew, which tells one instance from another; `none` of a new one. */
  readonly instance: string
  readonly documents: readonly NamedDocument[]
}

/** A copy under a name that nobody looks for. */
export type FileCopy = FileFigures & {
  readonly path: string
  /** Takes it away. */
  drop(): void
}

/** A database file, and what is done beside whoever reads and writes it, in another thread: nobody waits for it. */
export type DatabaseFile = {
  /**
   * What was committed before it began, copied, checked (integrity and foreign keys), counted, and on the disk.
   * @param target what the copy is called after; those that a crash left of it are removed
   * @param onBytes told now and then how large the copy is
   * @throws DatabaseRefused when it is damaged
   */
  copy(target: string, onBytes?: (bytes: number) => void): Promise<FileCopy>
  /** The files that it names now. */
  documents(): Promise<readonly NamedDocument[]>
  /** What SQLite's quick check finds wrong with it: everything but rows that miss in an index. */
  quickCheck(): Promise<string[]>
  /** Of the file and of the write-ahead log beside it. */
  sizes(): { bytes: number; logBytes: number }
  /**
   * From then on nothing that is in the log is written over, until somebody follows it, or has failed to. Before the first write of a start: what was
   * committed before a crash may be nowhere else. The log grows meanwhile.
   */
  holdLog(): void
  /** Nobody is going to follow it. */
  letLogGo(): void
  /** Deletes the parts of the log that were spooled and not shipped. */
  dropUnshipped(): void
  /** Reserves disk space, so that a start on a full disk can checkpoint the log. */
  keepReserve(): void
  /** Begins to follow what is committed, by this process and others. @param kept to go on from there, where that can be */
  followLog(kept?: LogKept): Promise<CommitLog>
}

/** What the checksums of a write-ahead log have come to; each frame's goes on from the one before. */
export type LogSum = readonly [number, number]

/** One life of the write-ahead log: from its first frame until it is begun anew, under other salts. */
export type LogHeader = { readonly salt1: number; readonly salt2: number; readonly pageSize: number; readonly sum: LogSum }

/** Commits that follow each other in one life of the log. */
export type LogRange = {
  readonly header: LogHeader
  /** Frames before it, and up to and with its last one. */
  readonly from: number
  readonly to: number
  /** What the checksums come to before its first frame. */
  readonly sum: LogSum
  /** What they come to after its last one. */
  readonly end: LogSum
}

/** What following a log holds on the disk. */
export type LogLengths = {
  /** Of the log. */
  readonly logBytes: number
  /** Of what was read from it and is not kept elsewhere yet. */
  readonly waitingBytes: number
  /** The log cannot begin anew because another connection reads from it. */
  readonly isHeldByOthers: boolean
}

/** Where what is kept elsewhere of a log ends. */
export type LogKept = {
  readonly header: LogHeader
  readonly frame: number
  readonly sum: LogSum
  /** What `finish` said when all of it was in the file. */
  readonly mark?: string | undefined
  /** The mark of the file when its log began to be held: what was in the log alone then is there still, though it may be in the file by now. */
  readonly markWhenHeld?: string | undefined
}

/**
 * What is committed, as it is written to the log. Nothing of it is written over before it was said to be kept elsewhere, so whoever follows
 * it must keep up: the log grows meanwhile.
 */
export type CommitLog = {
  /** It goes on where what is kept ends, as was given: nothing is missing in between. Otherwise it begins with what the log holds. */
  readonly goesOn: boolean
  /** Reads all that is committed by now. @returns how many ranges wait to be kept elsewhere @throws LogBroken */
  read(): Promise<number>
  /**
   * The first range that is not kept elsewhere, the same until it is; undefined where there is none.
   * @throws LogBroken
   */
  next(): Promise<LogRange | undefined>
  /** The frames of that range as compressed pieces, in order. */
  pieces(): AsyncGenerator<Uint8Array>
  /** Marks the range that `next` returned as shipped. */
  kept(): Promise<void>
  /**
   * Checkpoints a long log so that it restarts, and returns the lengths. Call it several times a second.
   * @throws LogBroken
   */
  tend(): Promise<LogLengths>
  /** Discards what is not shipped, checkpoints and truncates the log, and closes. */
  letGo(): Promise<void>
  /**
   * The database file as it is being read, packed in pieces. With every commit applied to it that its log held when this began, and those
   * that were made until it ended, it is the database as of the last of them.
   */
  file(): AsyncGenerator<Uint8Array>
  /**
   * Checkpoints the whole log.
   * @returns a mark: while the file has it, all later commits are in the log; undefined if something is not shipped (it
   *   is in the spool then), or another connection blocks the checkpoint
   */
  finish(): Promise<string | undefined>
  /** Ends it: the log may be written over again. What is under way throws. */
  close(): Promise<void>
}

/** Commits are missing between what was read of a log and what is there, or what is there cannot be read. */
export class LogBroken extends Error {
  override readonly name = 'LogBroken'
}

/** How many there were up to each bound, and above the last one; and the sum of them. */
export type Spread = { readonly bounds: readonly number[]; readonly buckets: number[]; sum: number }

/** Connections of one kind: how many there may be, are open, are unused, and how many works wait for one. */
export type PoolFigures = {
  readonly pool: 'write' | 'read'
  readonly max: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

export type DatabaseStats = {
  writes: number
  commits: number
  retries: number
  queued: number
  /** How long commits took, from being asked for until they were on disk, in seconds. */
  readonly commitSeconds: Spread
  /** How many works shared a commit. */
  readonly commitWorks: Spread
  /** Of a database server. */
  readonly pools?: () => readonly PoolFigures[]
}

/** The database cannot be used by this program; the message says what to do about it. */
export class DatabaseRefused extends Error {
  override readonly name = 'DatabaseRefused'
}

/** The disk is full: nothing of the write was kept, reads go on, and a later try may succeed. */
export class DatabaseFull extends Error {
  override readonly name = 'DatabaseFull'
}

/** The engine cannot take the write now (locked, unreachable, too slow, too many conflicts): nothing of it was kept; a later try may succeed. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
}

/** The server went away while it was to commit: the write is kept whole or not at all, and only a read can tell. It is not run again. */
export class DatabaseOutcomeUnknown extends Error {
  override readonly name = 'DatabaseOutcomeUnknown'
}

/** What a write was to change is not there, or not as it was known: nothing of the write was kept. */
export class NothingChanged extends Error {
  override readonly name = 'NothingChanged'
}

/** Whether a write failed for the database's sake, and not for what it was asked to do; also under what drizzle wrapped around it. */
export function isDatabaseAway(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof DatabaseFull || cause instanceof DatabaseUnavailable || cause instanceof DatabaseOutcomeUnknown) return true
  }
  return false
}

/** The engine's own error code under whatever drizzle wrapped around it: `SQLITE_FULL`, `23505`; undefined for other errors. */
export function engineErrorCode(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  }
  return undefined
}

/** Whether a write failed because a row with that unique key is already there, on either engine. */
export function isUniqueViolation(error: unknown): boolean {
  const code = engineErrorCode(error)
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** Whether a write failed because a column that needs a value was to have none, on either engine. */
export function isNullViolation(error: unknown): boolean {
  const code = engineErrorCode(error)
  return code === '23502' || code === 'SQLITE_CONSTRAINT_NOTNULL'
}
