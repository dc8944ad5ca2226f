import pg from 'pg'
import { createTable, type Migration, pendingOf, statementsOf } from '../migrations/pending.ts'

/**
 * Brings a Postgres database up to date. Several processes may start at once: a lock row lets one of them work.
 * @returns the tags it applied
 */
export async function migratePostgres(url: string, migrations: readonly Migration[], now: number): Promise<string[]> {
  return withClient(url, async (client) => {
    // All of a run are there at once: where none is missing, nobody is at work. Most starts write nothing and wait for nobody.
    if ((await lacked(client, migrations)).length === 0) return []
    await createLockRow(client, now)
    // Whatever the database's default: who waited for the lock must see what the one before has done.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query("SELECT tag FROM souk_migrations WHERE tag = 'lock' FOR UPDATE")
    const { rows } = await client.query<{ tag: string }>("SELECT tag FROM souk_migrations WHERE tag <> 'lock' ORDER BY tag")
    const pending = pendingOf(migrations, tagsOf(rows))
    for (const migration of pending) {
      for (const statement of statementsOf(migration)) await client.query(statement)
      await client.query('INSERT INTO souk_migrations (tag, applied_at) VALUES ($1, $2)', [migration.tag, now])
    }
    await client.query('COMMIT')
    return tagsOf(pending)
  })
}

/**
 * The migrations that a Postgres database still lacks.
 * @throws DatabaseRefused when it was written by a newer version
 */
export async function pendingPostgres(url: string, migrations: readonly Migration[]): Promise<string[]> {
  return withClient(url, async (client) => tagsOf(await lacked(client, migrations)))
}

async function lacked(client: pg.Client, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const { rows: found } = await client.query<{ name: string | null }>("SELECT to_regclass('souk_migrations')::text AS name")
  if (!found[0]?.name) return migrations
  const { rows } = await client.query<{ tag: string }>("SELECT tag FROM souk_migrations WHERE tag <> 'lock' ORDER BY tag")
  return pendingOf(migrations, tagsOf(rows))
}

/** Whether a database holds anything of souk. Changes nothing. */
export const wasMigrated = (url: string): Promise<boolean> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string | null }>("SELECT to_regclass('souk_migrations')::text AS name")
    return rows[0]?.name != null
  })

const tagsOf = (rows: readonly { tag: string }[]) => rows.map(({ tag }) => tag)

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
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
