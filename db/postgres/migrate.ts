import type pg from 'pg'
import { DatabaseRefused } from '../engine.ts'
import { createTable, type Migration, pendingOf, statementsOf } from '../migrations/pending.ts'
import { withClient } from './primary.ts'

/** A marker among the applied migrations while `souk move` runs: no process may serve a half-copied instance. */
export const movingTag = 'moving'

/**
 * Migrates a PostgreSQL database. Several processes may start at once: a lock row admits one at a time.
 * @returns the applied tags
 * @throws DatabaseRefused if a newer version wrote the database, or an instance is being moved into it
 */
export const migratePostgres = (url: string, migrations: readonly Migration[], now: number): Promise<string[]> =>
  withClient(url, (client) => migrateOn(client, migrations, now))

/**
 * Migrates on a connection.
 * @param isMoving whether an instance is being moved into the database
 */
export async function migrateOn(client: pg.Client, migrations: readonly Migration[], now: number, isMoving = false): Promise<string[]> {
  // All migrations of a run are committed together, so this check needs no lock. Most starts find none missing.
  if ((await missingMigrations(client, migrations, isMoving)).length === 0) return []
  await createLockRow(client, now)
  // Read committed regardless of the database's default: a waiter must see the previous holder's migrations.
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  await client.query("SELECT tag FROM souk_migrations WHERE tag = 'lock' FOR UPDATE")
  const { rows } = await client.query<{ tag: string }>("SELECT tag FROM souk_migrations WHERE tag <> 'lock' ORDER BY tag")
  const pending = pendingOf(migrations, appliedOf(rows, isMoving))
  for (const migration of pending) {
    for (const statement of statementsOf(migration)) await client.query(statement)
    await client.query('INSERT INTO souk_migrations (tag, applied_at) VALUES ($1, $2)', [migration.tag, now])
  }
  await client.query('COMMIT')
  return tagsOf(pending)
}

/**
 * Returns the tags of the missing migrations.
 * @throws DatabaseRefused if a newer version wrote the database
 */
export async function pendingPostgres(url: string, migrations: readonly Migration[]): Promise<string[]> {
  return withClient(url, async (client) => tagsOf(await missingMigrations(client, migrations)))
}

async function missingMigrations(client: pg.Client, migrations: readonly Migration[], isMoving = false): Promise<readonly Migration[]> {
  const { rows: tables } = await client.query<{ name: string | null }>("SELECT to_regclass('souk_migrations')::text AS name")
  if (!tables[0]?.name) return migrations
  const { rows } = await client.query<{ tag: string }>("SELECT tag FROM souk_migrations WHERE tag <> 'lock' ORDER BY tag")
  return pendingOf(migrations, appliedOf(rows, isMoving))
}

/** Returns whether a database has souk's tables. Changes nothing. */
export const wasMigrated = (url: string): Promise<boolean> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string | null }>("SELECT to_regclass('souk_migrations')::text AS name")
    return rows[0]?.name != null
  })

const tagsOf = (rows: readonly { tag: string }[]) => rows.map(({ tag }) => tag)

function appliedOf(rows: readonly { tag: string }[], isMoving = false): string[] {
  if (!isMoving && rows.some(({ tag }) => tag === movingTag))
    throw new DatabaseRefused('an instance is being moved to this database: run the same `souk move` again until it is complete')
  return tagsOf(rows.filter(({ tag }) => tag !== movingTag))
}

const createLockTriesMax = 5

/** Creates the table of migrations and the row that a migrating process locks. */
export async function createLockRow(client: pg.Client, now: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(`${createTable}bigint NOT NULL)`)
      await client.query("INSERT INTO souk_migrations (tag, applied_at) VALUES ('lock', $1) ON CONFLICT DO NOTHING", [now])
      return
    } catch (error) {
      // IF NOT EXISTS does not prevent an error if two sessions create the table at once.
      if (tries >= createLockTriesMax) throw error
    }
  }
}
