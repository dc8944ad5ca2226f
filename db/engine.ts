import type { SQL } from 'drizzle-orm'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'

type Queries = BaseSQLiteDatabase<'async', unknown>
/** Runs hand-written SQL for what the builders cannot say. Both engines bind parameters alike. */
type Rows = { rows<T>(query: SQL): Promise<T[]> }

export type Reader = Pick<Queries, 'select' | 'selectDistinct'> & Rows
export type Writer = Pick<Queries, 'select' | 'insert' | 'update' | 'delete'> & Rows

export interface Database {
  /** Sees committed data only. */
  readonly read: Reader
  /**
   * Runs `work` and resolves once its commit is on disk. Many works may share one commit, and an engine may run a
   * work again, so no outside effect belongs inside and nothing but its own queries is awaited.
   * @throws what `work` throws, with nothing of it kept; DatabaseFull or DatabaseUnavailable when it cannot be stored now
   */
  write<T>(work: (tx: Writer) => Promise<T>): Promise<T>
  /**
   * Changes whenever anything was committed, by this process or another; undefined where only a query could tell,
   * and then nothing may be cached. A cached answer carries the version read before it was computed.
   */
  version(): number | undefined
  readonly stats: DatabaseStats
  /** Moves the write-ahead log into the file, as far as nobody has to wait. Returns the log's length in bytes; undefined where there is none. */
  checkpoint(): Promise<number | undefined>
  /** Finishes what is queued, then closes. */
  close(): Promise<void>
}

export type DatabaseStats = { writes: number; commits: number; retries: number; queued: number }

/** The disk is full: nothing of the write was kept, reads go on, and a later try may succeed. */
export class DatabaseFull extends Error {
  override readonly name = 'DatabaseFull'
}

/** The engine cannot take the write now (locked, unreachable, too many conflicts); a later try may succeed. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
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
