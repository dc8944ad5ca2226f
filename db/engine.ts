import { getTableColumns, is, Placeholder, type SQL, sql, type Table } from 'drizzle-orm'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'

type Queries = BaseSQLiteDatabase<'async', unknown>
/** Runs hand-written SQL for what the builders cannot say. Both engines bind parameters alike. */
type Rows = { rows<T>(query: SQL): Promise<T[]> }

/** Something that knows its SQL: a builder of ours. */
export type Compiled = { toSQL(): { sql: string; params: unknown[] } }

export type Reader = Pick<Queries, 'select' | 'selectDistinct'> &
  Rows & {
    /**
     * Prepares a read of one row for the hottest paths: past drizzle, whose mapping costs more than the read. Columns come
     * under their names in SQL, as the driver has them. SQLite answers at once, Postgres by a promise.
     */
    one<Row>(query: Compiled): (values: Record<string, unknown>) => Row | undefined | Promise<Row | undefined>
    /** The same for as many rows as there are. */
    many<Row>(query: Compiled): (values: Record<string, unknown>) => Row[] | Promise<Row[]>
    /** Makes several of these reads as of one moment, where they answer at once; and then they are cheaper together. */
    together<T>(reads: () => T): T
  }

export type Writer = Pick<Queries, 'select' | 'insert' | 'update' | 'delete'> &
  Rows & {
    /** Runs once the commit is on disk, before anybody is told. For what this process remembers of the data, and no more. */
    afterCommit(effect: () => void): void
  }

/** Something that a builder can prepare, whose rows it maps as it does its own. */
export type Preparable<T> = Compiled & { prepare(): { execute(values?: Record<string, unknown>): Promise<T> } }
/** A statement that was built once, and runs in any transaction. Placeholders are filled in by name. */
export type Statement<T> = (tx: Writer, values: Record<string, unknown>) => Promise<T>

export interface Database {
  /** Sees committed data only. */
  readonly read: Reader
  /** Prepares a statement for the writes that every order makes: building one costs some ten times what it takes to run it. */
  statement<T>(build: (queries: Pick<Queries, 'select' | 'insert' | 'update' | 'delete'>) => Preparable<T>): Statement<T>
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
  /** Changes whenever another process committed; undefined where only a query could tell. */
  foreignVersion(): number | undefined
  readonly stats: DatabaseStats
  /** Moves the write-ahead log into the file, as far as nobody has to wait. Returns the log's length in bytes; undefined where there is none. */
  checkpoint(): Promise<number | undefined>
  /** Finishes what is queued, then closes. */
  close(): Promise<void>
}

export type DatabaseStats = { writes: number; commits: number; retries: number; queued: number }

/** The database cannot be used by this program; the message says what to do about it. */
export class DatabaseRefused extends Error {
  override readonly name = 'DatabaseRefused'
}

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

/** All columns of a table under the names that they have here, for reads past drizzle's mapping: JSON comes as text, and of SQLite a truth as 0 or 1. */
export const namedColumns = (table: Table): Record<string, SQL.Aliased> =>
  Object.fromEntries(Object.entries(getTableColumns(table)).map(([name, column]) => [name, sql`${column}`.as(name)]))

/** Puts the values of a compiled query's parameters in order: placeholders are filled in by name. */
export function binder(params: readonly unknown[]): (values: Record<string, unknown>) => unknown[] {
  const names = params.map((param) => (is(param, Placeholder) ? param.name : undefined))
  return (values) => names.map((name, at) => (name === undefined ? params[at] : values[name]))
}

/** Whether a write failed because a row with that unique key is already there, on either engine. */
export function isUniqueViolation(error: unknown): boolean {
  const code = engineErrorCode(error)
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}
