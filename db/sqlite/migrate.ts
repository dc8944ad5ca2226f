/** Applies migrations. drizzle's runner deletes referencing rows when SQLite rebuilds a table. */
import { Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseRefused, engineErrorCode } from '../engine.ts'
import { createTable, type Migration, pendingOf, statementsOf } from '../migrations/pending.ts'
import { removeAbandoned } from '../temporary-files.ts'
import { copyInto, makeDirectory, publish } from './copy.ts'
import { applicationId, configure } from './engine.ts'

type SqliteMigration = { applied: string[]; backup: string | undefined }

/**
 * Migrates or creates a SQLite file. An existing file is copied to `backups` first.
 * @param now milliseconds since the epoch
 * @param mayMigrate false while another process serves this file: an outdated file is refused then
 */
export function migrateSqlite(
  file: string,
  migrations: readonly Migration[],
  { backups, now, mayMigrate = true }: { backups: string; now: number; mayMigrate?: boolean },
): SqliteMigration {
  // Read-only, because the last writable connection would checkpoint and delete the log before it is shipped.
  if (isCurrentSqlite(file, migrations)) return { applied: [], backup: undefined }
  using connection = new Sqlite(file, { create: true, strict: true })
  connection.run('PRAGMA busy_timeout = 5000')
  const { applied, pending } = inspectSqlite(connection, migrations)
  if (pending.length === 0) return { applied: [], backup: undefined }
  if (!mayMigrate)
    throw new DatabaseRefused('the database is older than this version: stop the running server and start it with this version first')
  // Only now, because concurrent changes of the journal mode fail.
  configure(connection)
  const backup = applied.length > 0 ? backUp(connection, backups, `before-${pending[0]?.tag}-${now}.db`) : undefined
  connection.run('PRAGMA foreign_keys = OFF')
  connection.run(`PRAGMA application_id = ${applicationId}`)
  connection.run(`${createTable}integer NOT NULL) STRICT`)
  for (const migration of pending) applySqlite(connection, migration, now)
  connection.run(`PRAGMA user_version = ${migrations.length}`)
  return { applied: pending.map(({ tag }) => tag), backup }
}

/** Tags of the applied migrations, and the pending migrations in order. */
export type SqliteState = { applied: string[]; pending: Migration[] }

/**
 * Inspects a SQLite file.
 * @throws DatabaseRefused if it is of another program or a newer version
 */
export function inspectSqlite(connection: Sqlite, migrations: readonly Migration[]): SqliteState {
  refuseForeignFile(connection)
  const applied = appliedTags(connection)
  return { applied, pending: pendingOf(migrations, applied) }
}

/** Returns whether the file exists and needs no migration. */
export function isCurrentSqlite(file: string, migrations: readonly Migration[]): boolean {
  if (!existsSync(file)) return false
  using connection = new Sqlite(file, { readonly: true })
  connection.run('PRAGMA busy_timeout = 5000')
  return inspectSqlite(connection, migrations).pending.length === 0
}

function refuseForeignFile(connection: Sqlite): void {
  let id: number | undefined
  let objects: number | undefined
  try {
    id = connection.query<{ application_id: number }, []>('PRAGMA application_id').get()?.application_id
    objects = connection.query<{ n: number }, []>('SELECT count(*) AS n FROM sqlite_master').get()?.n
  } catch (error) {
    if (engineErrorCode(error) === 'SQLITE_NOTADB')
      throw new DatabaseRefused('the file is not a database: choose another DATA_DIR, or restore a backup')
    throw error
  }
  if (id !== applicationId && objects !== 0) throw new DatabaseRefused('the file is a database of another program: choose another DATA_DIR')
}

function appliedTags(connection: Sqlite): string[] {
  const exists = connection.query("SELECT 1 FROM sqlite_master WHERE name = 'souk_migrations'").get()
  if (!exists) return []
  const rows = connection.query<{ tag: string }, []>('SELECT tag FROM souk_migrations ORDER BY tag').all()
  return rows.map(({ tag }) => tag)
}

function applySqlite(connection: Sqlite, migration: Migration, now: number): void {
  connection.run('BEGIN IMMEDIATE')
  try {
    for (const statement of statementsOf(migration)) connection.run(statement)
    if (connection.query('PRAGMA foreign_key_check').get())
      throw new DatabaseRefused(`migration ${migration.tag} would leave dangling references; nothing was changed`)
    connection.run('INSERT INTO souk_migrations (tag, applied_at) VALUES (?, ?)', [migration.tag, now])
    connection.run('COMMIT')
  } catch (error) {
    if (connection.inTransaction) connection.run('ROLLBACK')
    throw error
  }
}

function backUp(connection: Sqlite, folder: string, name: string): string {
  makeDirectory(folder)
  // Each attempt has its own name.
  removeAbandoned(folder, (target) => target.startsWith('before-'))
  const file = join(folder, name)
  publish(copyInto(connection, file), file)
  return file
}
