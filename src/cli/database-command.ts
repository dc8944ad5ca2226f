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
 * Opens the database for a reading command, also next to a running server. Needs no keys and migrates nothing, so it
 * works if a start is refused.
 * @throws OperatorError if there is no database or its version differs
 */
export async function withDatabase<T>(config: Config, run: (db: Database) => Promise<T>): Promise<T> {
  const db = await openCurrentDatabase(config)
  try {
    return await run(db)
  } finally {
    await db.close()
  }
}

/** The dependencies of a reading command: a clock and a silent log. */
export const readOnlyDeps = {
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
}

/** Opens the database for reading, without a time limit for statements and without checks. */
export const openReadOnly = ({ databaseUrl }: Pick<Config, 'databaseUrl'>): Database =>
  databaseUrl.startsWith('file:')
    ? openSqlite(databaseFile(databaseUrl), { besideServer: true })
    : openPostgres(databaseUrl, () => 0.5, { timeouts: unhurried })

async function openCurrentDatabase(config: Config): Promise<Database> {
  const { databaseUrl } = config
  if (databaseUrl.startsWith('file:')) {
    refuseOutdated(inspectFile(databaseFile(databaseUrl)).pending.map(({ tag }) => tag))
    return openReadOnly(config)
  }
  if (!(await wasMigrated(databaseUrl))) throw new OperatorError('The database in DATABASE_URL has no souk tables: check DATABASE_URL')
  refuseOutdated(await pendingPostgres(databaseUrl, postgresMigrations))
  return openReadOnly(config)
}

function refuseOutdated(pending: readonly string[]): void {
  if (pending.length > 0)
    throw new OperatorError(
      `The database is older than this version (missing: ${pending.join(', ')}): use the version of the server, or upgrade the server`,
    )
}
