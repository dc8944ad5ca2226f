import { Database as Sqlite } from 'bun:sqlite'
import { statfsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { assertEngine } from './columns.ts'
import { type Database, DatabaseRefused, engineErrorCode } from './engine.ts'
import { postgresMigrations, sqliteMigrations } from './migrations/index.ts'
import type { PostgresOptions } from './postgres/engine.ts'
import { makeDirectory } from './sqlite/copy.ts'
import { openSqlite, type SqliteOptions } from './sqlite/engine.ts'
import { isCurrentSqlite, migrateSqlite } from './sqlite/migrate.ts'

export type OpenOptions = {
  /** `file:…` or `postgres://…`. */
  url: string
  dataDir: string
  /** `server` holds the data directory for itself; a `command` works beside a running server. */
  as: 'server' | 'command'
  /** Milliseconds since the epoch. */
  now: number
  random: () => number
  sqlite?: SqliteOptions
  postgres?: PostgresOptions
}

export type Opened = {
  db: Database
  /** Tags of the migrations that ran. */
  migrated: string[]
  /** The copy made before them. */
  backup: string | undefined
}

/**
 * Opens the database ready for use: directory made, lock held, migrations run.
 * @throws DatabaseRefused, with what to do, when the file is in use, on a network file system, foreign or newer, or of another engine than
 *   the program was started for
 */
export async function openDatabase({ url, dataDir, as, now, random, sqlite = {}, postgres }: OpenOptions): Promise<Opened> {
  assertEngine(url.startsWith('file:') ? 'sqlite' : 'postgres')
  if (!url.startsWith('file:')) {
    const [{ openPostgres, unhurried }, { migratePostgres }] = await Promise.all([
      import('./postgres/engine.ts'),
      import('./postgres/migrate.ts'),
    ])
    const migrated = await migratePostgres(url, postgresMigrations, now)
    return {
      db: openPostgres(url, random, as === 'command' ? { timeouts: unhurried, ...postgres } : postgres),
      migrated,
      backup: undefined,
    }
  }
  const file = databaseFile(url)
  const directories = directoriesOf(url, dataDir)
  for (const directory of directories) prepareDataDir(directory)
  // A command may hold the lock for the moment in which it opens the database, and migrates it. A server holds it for good.
  const waits = as === 'server' || !isCurrentSqlite(file, sqliteMigrations)
  const lock = lockAll(directories, waits ? lockWaitMs : 0)
  if (!lock && as === 'server')
    throw new DatabaseRefused(`another souk already serves ${directories.join(' or ')}: stop it, or set another DATA_DIR`)
  try {
    const migration = migrateSqlite(file, sqliteMigrations, { backups: join(dataDir, 'backups'), now, mayMigrate: lock !== undefined })
    if (as === 'command') lock?.release()
    const db = openSqlite(file, { ...sqlite, besideServer: as === 'command' })
    const close = async () => {
      await db.close()
      if (as === 'server') lock?.release()
    }
    return { db: { ...db, close }, migrated: migration.applied, backup: migration.backup }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** The path in a `file:` URL as we write it: `file:/srv/shop.db`, `file:./shop.db`, `file:///srv/shop.db`. */
export const databaseFile = (url: string): string => url.replace(/^file:(\/\/(?=\/))?/, '')

/** What nobody else may serve: the data directory, and that of the file where DATABASE_URL puts it elsewhere. */
export const directoriesOf = (url: string, dataDir: string): string[] => [
  ...new Set([resolve(dataDir), dirname(resolve(databaseFile(url)))]),
]

/** NFS, SMB, CIFS, SMB2, AFS, Coda, Ceph: their locks are not to be trusted with a database. */
const networkFileSystems = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x73757245, 0x00c36400])

/** Makes the directory for the owner alone; refuses one on a network file system. */
export function prepareDataDir(dataDir: string): void {
  makeDirectory(dataDir)
  if (isNetworkFileSystem(statfsSync(dataDir).type)) {
    throw new DatabaseRefused(
      `${dataDir} is on a network file system, where SQLite loses data: use a local disk, or DATABASE_URL=postgres://…`,
    )
  }
}

/** @param type as statfs(2) gives it; the sign is an accident of its size */
export const isNetworkFileSystem = (type: number): boolean => networkFileSystems.has(type >>> 0)

export type DataDirLock = { release(): void }

const lockWaitMs = 1_000

/** Undefined while another process holds it. The kernel drops the lock when its process ends, however it ends. */
export const lockDataDir = (dataDir: string, waitMs = 0): DataDirLock | undefined => lockFile(join(dataDir, 'lock.db'), waitMs)

/** The same on any file, which is made for it. */
export function lockFile(path: string, waitMs = 0): DataDirLock | undefined {
  const lock = new Sqlite(path, { create: true })
  try {
    lock.run(`PRAGMA busy_timeout = ${waitMs}`)
    lock.run('BEGIN EXCLUSIVE')
    return { release: () => lock.close() }
  } catch (error) {
    lock.close()
    if (engineErrorCode(error)?.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
}

/** All of them or none. */
export function lockAll(directories: readonly string[], waitMs = 0): DataDirLock | undefined {
  const locks: DataDirLock[] = []
  const release = () => locks.forEach((lock) => void lock.release())
  for (const directory of directories) {
    const lock = lockDataDir(directory, waitMs)
    if (!lock) {
      release()
      return undefined
    }
    locks.push(lock)
  }
  return { release }
}
