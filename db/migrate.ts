/** Our own runner: drizzle's deletes cascading children when SQLite rebuilds a table. */
import { Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { copyInto, makeDirectory, publish } from './copy.ts'
import { DatabaseRefused, engineErrorCode } from './engine.ts'
import { applicationId, configure } from './sqlite.ts'

export { DatabaseRefused } from './engine.ts'

export type Migration = { readonly tag: string; readonly statements: string }

const statementsOf = ({ statements }: Migration) =>
  statements
    .split('--> statement-breakpoint')
    .map((statement) => statement.trim())
    .filter((statement) => statement.length > 0)

/** The migrations that `applied` still lacks, in order. Throws DatabaseRefused when `applied` holds one that we do not know. */
function pendingOf(migrations: readonly Migration[], applied: readonly string[]): Migration[] {
  const known = new Set(migrations.map(({ tag }) => tag))
  if (applied.some((tag) => !known.has(tag))) {
    throw new DatabaseRefused('the database was written by a newer souk: start that version, or restore a backup made before the upgrade')
  }
  const done = new Set(applied)
  return migrations.filter(({ tag }) => !done.has(tag))
}

const createTable = 'CREATE TABLE IF NOT EXISTS souk_migrations (tag text PRIMARY KEY NOT NULL, applied_at '

export type SqliteMigration = { applied: string[]; backup: string | undefined }

/**
 * Brings a SQLite file up to date, or makes it. An existing file is copied into `backups` first.
 * @param now milliseconds since the epoch
 * @param mayMigrate false while another process serves this file: then a file that is behind is refused
 */
export function migrateSqlite(
  file: string,
  migrations: readonly Migration[],
  { backups, now, mayMigrate = true }: { backups: string; now: number; mayMigrate?: boolean },
): SqliteMigration {
  const connection = new Sqlite(file, { create: true, strict: true })
  try {
    connection.run('PRAGMA busy_timeout = 5000')
    const { applied, pending } = inspectSqlite(connection, migrations)
    if (pending.length === 0) return { applied: [], backup: undefined }
    if (!mayMigrate)
      throw new DatabaseRefused('the database is behind this program: stop the running server and start it with this version first')
    // Only now: two that change the journal of one file at once refuse each other.
    configure(connection)
    const backup = applied.length > 0 ? backUp(connection, backups, `before-${pending[0]?.tag}-${now}.db`) : undefined
    connection.run('PRAGMA foreign_keys = OFF')
    connection.run(`PRAGMA application_id = ${applicationId}`)
    connection.run(`${createTable}integer NOT NULL) STRICT`)
    for (const migration of pending) applySqlite(connection, migration, now)
    connection.run(`PRAGMA user_version = ${migrations.length}`)
    return { applied: pending.map(({ tag }) => tag), backup }
  } finally {
    connection.close()
  }
}

export type SqliteState = { applied: string[]; pending: Migration[] }

/**
 * What a SQLite file holds, without changing it.
 * @throws DatabaseRefused when it is another program's, or written by a newer version of this one
 */
export function inspectSqlite(connection: Sqlite, migrations: readonly Migration[]): SqliteState {
  refuseForeignFile(connection)
  return stateOf(connection, migrations)
}

/** Whether the file is there and lacks no migration. */
export function isCurrentSqlite(file: string, migrations: readonly Migration[]): boolean {
  if (!existsSync(file)) return false
  const connection = new Sqlite(file, { readonly: true })
  try {
    connection.run('PRAGMA busy_timeout = 5000')
    return inspectSqlite(connection, migrations).pending.length === 0
  } finally {
    connection.close()
  }
}

function stateOf(connection: Sqlite, migrations: readonly Migration[]): SqliteState {
  const applied = appliedTags(connection)
  return { applied, pending: pendingOf(migrations, applied) }
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
  return connection
    .query<{ tag: string }, []>('SELECT tag FROM souk_migrations ORDER BY tag')
    .all()
    .map(({ tag }) => tag)
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
  const file = join(folder, name)
  publish(copyInto(connection, file), file)
  return file
}

/**
 * Brings a Postgres database up to date. Several processes may start at once: a lock row lets one of them work.
 * @returns the tags it applied
 */
export async function migratePostgres(url: string, migrations: readonly Migration[], now: number): Promise<string[]> {
  return withClient(url, async (client) => {
    await createLockRow(client, now)
    // Whatever the database's default: who waited for the lock must see what the one before has done.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query("SELECT tag FROM souk_migrations WHERE tag = 'lock' FOR UPDATE")
    const { rows } = await client.query<{ tag: string }>("SELECT tag FROM souk_migrations WHERE tag <> 'lock' ORDER BY tag")
    const pending = pendingOf(
      migrations,
      rows.map(({ tag }) => tag),
    )
    for (const migration of pending) {
      for (const statement of statementsOf(migration)) await client.query(statement)
      await client.query('INSERT INTO souk_migrations (tag, applied_at) VALUES ($1, $2)', [migration.tag, now])
    }
    await client.query('COMMIT')
    return pending.map(({ tag }) => tag)
  })
}

/**
 * The migrations that a Postgres database still lacks.
 * @throws DatabaseRefused when it was written by a newer version
 */
export async function pendingPostgres(url: string, migrations: readonly Migration[]): Promise<string[]> {
  return withClient(url, async (client) => {
    const { rows: found } = await client.query<{ name: string | null }>("SELECT to_regclass('souk_migrations')::text AS name")
    if (!found[0]?.name) return migrations.map(({ tag }) => tag)
    const { rows } = await client.query<{ tag: string }>("SELECT tag FROM souk_migrations WHERE tag <> 'lock'")
    return pendingOf(
      migrations,
      rows.map(({ tag }) => tag),
    ).map(({ tag }) => tag)
  })
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const { Client } = (await import('pg')).default
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  // The queries fail by themselves when the connection is lost. Unhandled, the event would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

const createLockTriesMax = 5

async function createLockRow(client: pg.Client, now: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(`${createTable}bigint NOT NULL)`)
      await client.query("INSERT INTO souk_migrations (tag, applied_at) VALUES ('lock', $1) ON CONFLICT DO NOTHING", [now])
      return
    } catch (error) {
      // IF NOT EXISTS is no protection between two sessions that create the same table at once.
      if (tries >= createLockTriesMax) throw error
    }
  }
}
