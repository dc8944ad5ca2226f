import type pg from 'pg'
import { DatabaseRefused } from '../engine.ts'
import { createTable, type Migration, pendingOf, statementsOf } from '../migrations/pending.ts'
import { withClient } from './primary.ts'

/** A marker among the applied migrations while `souk move` runs: no process may serve a half-copied instance. */
export const movingTag = 'moving'

/**
 * Brings a Postgres database up to date. Several processes may start at once: a lock row lets one of them work.
 * @returns the tags it applied
 * @throws DatabaseRefused when it was written by a newer version, or while an instance is being moved into it
 */
export const migratePostgres = (url: string, migrations: readonly Migration[], now: number): Promise<string[]> =>
  withClient(url, (client) => migrateOn(client, migrations, now))

/** The same on a connection. @param isMoving for whoever moves an instance into it */
export async function migrateOn(client: pg.Client, migrations: readonly Migration[], now: number, isMoving = false): Promise<string[]> {
  // All of a run are there at once: where none is missing, nobody is at work. Most starts write nothing and wait for
  // nobody.
  if ((await lacked(client, migrations, isMoving)).length === 0) return []
  await createLockRow(client, now)
  // Whatever the database's default: who waited for the lock must see what the one before has done.
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
 * The migrations that a Postgres database still lacks.
 * @throws DatabaseRefused when it was written by a newer version
 */
export async function pendingPostgres(url: string, migrations: readonly Migration[]): Promise<string[]> {
  return withClient(url, async (client) => tagsOf(await lacked(client, migrations)))
}

async function lacked(client: pg.Client, migrations: readonly Migration[], isMoving = false): Promise<readonly Migration[]> {
  const { rows: found } = await client.query<{ name: string | null }>("SELECT to_regclass('souk_migrations')::text AS name")
  if (!found[0]?.name) return migrations
  const { rows } = await client.query<{ tag: string }>("SELECT tag FROM souk_migrations WHERE tag <> 'lock' ORDER BY tag")
  return pendingOf(migrations, appliedOf(rows, isMoving))
}

/** Whether a database holds anything of souk. Changes nothing. */
export const wasMigrated = (url: string): Promise<boolean> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string | null }>("SELECT to_regclass('souk_migrations')::text AS name")
    return rows[0]?.name != null
  })

const tagsOf = (rows: readonly { tag: string }[]) => rows.map(({ tag }) => tag)

function appliedOf(rows: readonly { tag: string }[], isMoving = false): string[] {
  if (!isMoving && rows.some(({ tag }) => tag === movingTag))
    throw new DatabaseRefused(
      'an instance is being moved into this database: run the same `souk move` again, until it says that all is there',
    )
  return tagsOf(rows.filter(({ tag }) => tag !== movingTag))
}

const createLockTriesMax = 5

/** Makes the table of migrations, and in it the row by which one of several processes at a time migrates. */
export async function createLockRow(client: pg.Client, now: number): Promise<void> {
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
