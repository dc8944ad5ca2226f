import { Database as Sqlite } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { DatabaseRefused } from '../../db/engine.ts'
import { sqliteMigrations } from '../../db/migrations/index.ts'
import { databaseFile, refuseOtherName } from '../../db/open.ts'
import { inspectSqlite, type SqliteState } from '../../db/sqlite/migrate.ts'
import { causeOf } from '../../db/sqlite/open-failure.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'

/**
 * Returns the database file of an embedded instance.
 * @param onPostgres advice if the instance has none
 */
export function embeddedFile({ databaseUrl }: Config, onPostgres: string): string {
  if (!databaseUrl.startsWith('file:')) throw new OperatorError(`DATABASE_URL is a PostgreSQL server: ${onPostgres}`)
  return databaseFile(databaseUrl)
}

export type FileState = SqliteState & { bytes: number; keyVersions: string[] }

/** The error of a command that finds no instance. */
export const noInstance = (file: string) =>
  new OperatorError(`Database not found: ${file}. Set DATA_DIR or --data-dir to the directory of your instance`)

/**
 * Inspects a database file through a read-only connection.
 * @param missing the error if there is no file
 * @throws OperatorError if it is missing, foreign, empty or newer
 */
export function inspectFile(file: string, missing = noInstance): FileState {
  if (!statSync(file, { throwIfNoEntry: false })) throw missing(file)
  refuseOtherName(file)
  return withReader(file, (connection) => {
    const state = stateOf(file, connection)
    if (state.applied.length === 0) throw new OperatorError(`${file} is not a souk database`)
    const sizeOf = (pragma: string) => Object.values(connection.query<Record<string, number>, []>(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0
    const keys = connection.query<{ version: string }, []>('SELECT version FROM encryption_keys WHERE retired_at IS NULL').all()
    return { ...state, bytes: sizeOf('page_count') * sizeOf('page_size'), keyVersions: keys.map(({ version }) => version) }
  })
}

function stateOf(file: string, connection: Sqlite): SqliteState {
  try {
    return inspectSqlite(connection, sqliteMigrations)
  } catch (error) {
    if (error instanceof DatabaseRefused) throw new OperatorError(`${file}: ${error.message}`)
    throw error
  }
}

/** Runs a function with a read-only connection. */
export function withReader<T>(file: string, use: (connection: Sqlite) => T): T {
  try {
    using connection = new Sqlite(file, { readonly: true, strict: true })
    for (const pragma of ['busy_timeout = 5000', 'trusted_schema = 0']) connection.run(`PRAGMA ${pragma}`)
    return use(connection)
  } catch (error) {
    throw causeOf(error, file)
  }
}
