import { Database as Sqlite } from 'bun:sqlite'
import { mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from './engine.ts'
import { DatabaseRefused, migratePostgres, migrateSqlite } from './migrate.ts'
import { postgresMigrations, sqliteMigrations } from './migrations/index.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite, type SqliteOptions } from './sqlite.ts'

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
}

export type Opened = { db: Database; /** Tags of the migrations that ran. */ migrated: string[]; /** The copy made before them. */ backup: string | undefined }

/**
 * Opens the database ready for use: directory made, lock held, migrations run.
 * @throws DatabaseRefused, with what to do, when the file is in use, on a network file system, foreign or newer
 */
export async function openDatabase({ url, dataDir, as, now, random, sqlite = {} }: OpenOptions): Promise<Opened> {
  if (!url.startsWith('file:')) {
    const migrated = await migratePostgres(url, postgresMigrations, now)
    return { db: openPostgres(url, random), migrated, backup: undefined }
  }
  prepareDataDir(dataDir)
  const lock = lockDataDir(dataDir)
  if (!lock && as === 'server') throw new DatabaseRefused(`another souk already serves ${dataDir}: stop it, or set another DATA_DIR`)
  const file = databaseFile(url)
  try {
    const migration = migrateSqlite(file, sqliteMigrations, { backups: join(dataDir, 'backups'), now, mayMigrate: lock !== undefined })
    if (as === 'command') lock?.release()
    const db = openSqlite(file, sqlite)
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

/** NFS, SMB, CIFS, SMB2, AFS, Coda, Ceph: their locks are not to be trusted with a database. */
const networkFileSystems = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x73757245, 0x00c36400])

/** Makes the directory for the owner alone; refuses one on a network file system. */
export function prepareDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (networkFileSystems.has(fileSystemType(dataDir))) {
    throw new DatabaseRefused(`${dataDir} is on a network file system, where SQLite loses data: use a local disk, or DATABASE_URL=postgres://…`)
  }
}

const fileSystemType = (path: string): number => statfsSync(path).type >>> 0

export type DataDirLock = { release(): void }

/** Undefined while another process holds it. The kernel drops the lock when its process ends, however it ends. */
export function lockDataDir(dataDir: string): DataDirLock | undefined {
  const lock = new Sqlite(join(dataDir, 'lock.db'), { create: true })
  try {
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('BEGIN EXCLUSIVE')
    return { release: () => lock.close() }
  } catch {
    lock.close()
    return undefined
  }
}
