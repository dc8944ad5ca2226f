import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { checkWithin } from '../../../../db/deadline.ts'
import type { Reader, Writer } from '../../../../db/engine.ts'
import { postgresMigrations, sqliteMigrations } from '../../../../db/migrations/index.ts'

const migrations = engine === 'sqlite' ? sqliteMigrations : postgresMigrations

/** A check that takes longer counts as failed. */
const checkMaxMs = 2_000

export const operationsStore = {
  /** Returns whether a check passes in time and without an error. */
  passes: (check: () => Promise<boolean>): Promise<boolean> => checkWithin(checkMaxMs, check),
  /** Returns whether every migration of this program is applied. Newer ones are allowed. */
  async isMigrated(read: Reader): Promise<boolean> {
    const applied = new Set((await read.rows<{ tag: string }>(sql`select tag from souk_migrations`)).map(({ tag }) => tag))
    return migrations.every(({ tag }) => applied.has(tag))
  },
  /** Updates a row to its own value. This requires the lock, the log and the disk like any other write. */
  async touch(tx: Writer): Promise<boolean> {
    const rows = await tx.rows(
      sql`update souk_migrations set applied_at = applied_at where tag = (select min(tag) from souk_migrations) returning tag`,
    )
    return rows.length === 1
  },
  /** Returns the database size on a server; undefined for an embedded database. */
  async bytesOnServer(read: Reader): Promise<number | undefined> {
    if (engine === 'sqlite') return undefined
    const [row] = await read.rows<{ bytes: number | string }>(sql`select pg_database_size(current_database()) as bytes`)
    return row && Number(row.bytes)
  },
  isResponding: async (read: Reader): Promise<boolean> => (await read.rows(sql`select 1 as one`)).length === 1,
}
