import type { Database } from '../../db/engine.ts'
import { postgresMigrations } from '../../db/migrations/index.ts'
import { databaseFile } from '../../db/open.ts'
import { openPostgres, unhurried } from '../../db/postgres/engine.ts'
import { pendingPostgres, wasMigrated } from '../../db/postgres/migrate.ts'
import { openSqlite } from '../../db/sqlite/engine.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { inspectFile } from './database-file.ts'

/**
 * Lends the database to whoever only reads it, beside a server if one runs. It needs no keys and migrates nothing, so that it works where a
 * start is refused.
 * @throws OperatorError where there is none, or it is not of this version
 */
export async function withDatabase<T>(config: Config, run: (db: Database) => Promise<T>): Promise<T> {
  const db = await opened(config)
  try {
    return await run(db)
  } finally {
    await db.close()
  }
}

/** What a command that only looks on needs besides the database: the clock, and a log that says nothing. */
export const lookingOn = {
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
}

/** The database for a command that only reads: beside a server if one runs, and however long a statement takes. Nothing is looked at before. */
export const openBeside = ({ databaseUrl }: Pick<Config, 'databaseUrl'>): Database =>
  databaseUrl.startsWith('file:')
    ? openSqlite(databaseFile(databaseUrl), { besideServer: true })
    : openPostgres(databaseUrl, () => 0.5, { timeouts: unhurried })

async function opened(config: Config): Promise<Database> {
  const { databaseUrl } = config
  if (databaseUrl.startsWith('file:')) {
    refuseBehind(inspectFile(databaseFile(databaseUrl)).pending.map(({ tag }) => tag))
    return openBeside(config)
  }
  if (!(await wasMigrated(databaseUrl)))
    throw new OperatorError('The database in DATABASE_URL holds nothing of souk: see that it is the right one')
  refuseBehind(await pendingPostgres(databaseUrl, postgresMigrations))
  return openBeside(config)
}

function refuseBehind(pending: readonly string[]): void {
  if (pending.length > 0)
    throw new OperatorError(
      `The database is behind this version by ${pending.join(', ')}: run the souk that serves it, or upgrade the server`,
    )
}
