import { Database as Sqlite } from 'bun:sqlite'
import { realpathSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { assertEngine } from './columns.ts'
import { type Database, DatabaseRefused, engineErrorCode } from './engine.ts'
import { postgresMigrations, sqliteMigrations } from './migrations/index.ts'
import type { PostgresOptions } from './postgres/engine.ts'
import { makeDirectory } from './sqlite/copy.ts'
import { openSqlite, type SqliteOptions } from './sqlite/engine.ts'
import { openUnderAnotherName } from './sqlite/file-aliases.ts'
import { checkpointOnFullDisk } from './sqlite/full-disk.ts'
import { isCurrentSqlite, migrateSqlite } from './sqlite/migrate.ts'
import { causeOf } from './sqlite/open-failure.ts'
import { removeAbandoned } from './temporary-files.ts'

type OpenOptions = {
  /** `file:…` or `postgres://…`. */
  url: string
  dataDir: string
  /** A `server` locks the data directory; a `command` may run beside a server. */
  as: 'server' | 'command'
  /** Milliseconds since the epoch. */
  now: number
  random: () => number
  sqlite?: SqliteOptions
  postgres?: PostgresOptions
}

type OpenedDatabase = {
  db: Database
  /** Tags of the applied migrations. */
  migrated: string[]
  /** The copy made before them. */
  backup: string | undefined
  /** The disk was full, so the log was checkpointed into the file. */
  folded: boolean
  /** Problems that an operator should fix. */
  warnings: string[]
}

/**
 * Opens the database: creates directories, takes the lock, applies migrations.
 * @throws DatabaseRefused, with advice, if the file is in use, on a network file system, foreign, newer, or of another
 *   engine
 */
export async function openDatabase({ url, dataDir, as, now, random, sqlite = {}, postgres }: OpenOptions): Promise<OpenedDatabase> {
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
      folded: false,
      warnings: [],
    }
  }
  const file = databaseFile(url)
  try {
    return openFile(file, { url, dataDir, as, now, sqlite })
  } catch (error) {
    throw causeOf(error, file)
  }
}

function openFile(
  file: string,
  { url, dataDir, as, now, sqlite = {} }: Pick<OpenOptions, 'url' | 'dataDir' | 'as' | 'now' | 'sqlite'>,
): OpenedDatabase {
  const directories = directoriesOf(url, dataDir)
  for (const directory of directories) prepareDataDir(directory)
  // A command may hold the lock for a moment, while it opens and migrates. A server holds it permanently.
  const waits = as === 'server' || !withFileName(file, () => isCurrentSqlite(file, sqliteMigrations))
  const lock = lockAll(directories, waits ? lockWaitMs[as] : 0)
  if (!lock && as === 'server')
    throw new DatabaseRefused(`souk is already running on ${directories.join(' or ')}: stop it, or set another DATA_DIR`)
  try {
    refuseOtherName(file)
    const folded = as === 'server' && checkpointOnFullDisk(file)
    if (as === 'server') removeOwnRemains(file, dataDir, directories)
    const how = { backups: join(dataDir, 'backups'), now, mayMigrate: lock !== undefined }
    const migration = withFileName(file, () => migrateSqlite(file, sqliteMigrations, how))
    if (as === 'command') lock?.release()
    const db = openSqlite(file, { ...sqlite, besideServer: as === 'command' })
    try {
      // Checked again with our locks held, so that of two concurrent starts at least one notices the other.
      refuseOtherName(file)
    } catch (error) {
      void db.close()
      throw error
    }
    const close = async () => {
      await db.close()
      if (as === 'server') lock?.release()
    }
    const warnings = [...directories, file].flatMap((path) => permissionWarning(path) ?? [])
    return { db: { ...db, close }, migrated: migration.applied, backup: migration.backup, folded, warnings }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** Deletes unfinished files: all in the data directory, elsewhere only those of the database file. */
function removeOwnRemains(file: string, dataDir: string, directories: readonly string[]): void {
  const ownFolders = [resolve(dataDir), join(resolve(dataDir), 'backups')]
  for (const folder of ownFolders) removeAbandoned(folder, () => true)
  const names = isThere(file) ? [basename(file), basename(realpathSync(file))] : [basename(file)]
  for (const folder of directories) if (!ownFolders.includes(folder)) removeAbandoned(folder, (target) => names.includes(target))
}

/** Returns the path of a `file:` URL: `file:/srv/shop.db`, `file:./shop.db`, `file:///srv/shop.db`. */
export const databaseFile = (url: string): string => url.replace(/^file:(\/\/(?=\/))?/, '')

/** Adds the file name to refusals. */
function withFileName<T>(file: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw error instanceof DatabaseRefused ? new DatabaseRefused(`${file}: ${error.message}`) : error
  }
}

/**
 * Checks that no other process uses the file under another name.
 * @throws DatabaseRefused while another process has the file open under another name
 */
export function refuseOtherName(file: string): void {
  const pid = isThere(file) ? openUnderAnotherName(file) : undefined
  if (pid !== undefined)
    throw new DatabaseRefused(
      `${file} is open under another path (a link or a mount) in process ${pid}: stop that process, or use the same path. Two paths can damage a database`,
    )
}

/** Returns whether a path exists. Throws if a directory is inaccessible; `existsSync` would return false. */
export const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/**
 * Returns the directories that only one server may use: the data directory, the file's, and that of a symbolic link's
 * target.
 */
export function directoriesOf(url: string, dataDir: string): string[] {
  const file = resolve(databaseFile(url))
  const real = isThere(file) ? realpathSync(file) : file
  const ofLink = real === file || dirname(real) === realpathSync(dirname(file)) ? [] : [dirname(real)]
  return [...new Set([resolve(dataDir), dirname(file), ...ofLink])]
}

/** NFS, SMB, CIFS, SMB2, AFS, Coda, Ceph, FUSE, 9p, Lustre: their locks are not reliable. */
const networkFileSystems = new Set([
  ...[0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x73757245, 0x00c36400],
  ...[0x65735546, 0x01021997, 0x0bd00bd0],
])

const [writableByOthers, readableByOthers, enteredByOthers] = [0o002, 0o004, 0o001]
const modeText = (mode: number) => (mode & 0o777).toString(8).padStart(4, '0')

/** Returns the chmod command for a path that everyone can read; undefined if it is private. */
function permissionWarning(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat || (stat.mode & readableByOthers) === 0) return undefined
  // A private directory protects its files.
  if (!stat.isDirectory() && (statSync(dirname(path)).mode & enteredByOthers) === 0) return undefined
  return `${path} may be read by everybody on this machine (mode ${modeText(stat.mode)}): run \`chmod ${stat.isDirectory() ? 700 : 600} ${path}\``
}

/**
 * Creates a private directory.
 * @throws DatabaseRefused if everyone can write to it, or on a network file system
 */
export function prepareDataDir(dataDir: string): void {
  makeDirectory(dataDir)
  const { mode } = statSync(dataDir)
  if ((mode & writableByOthers) !== 0)
    throw new DatabaseRefused(
      `All users of this machine can write to ${dataDir} (mode ${modeText(mode)}) and replace the database: run \`chmod 700 ${dataDir}\``,
    )
  if (isNetworkFileSystem(statfsSync(dataDir).type)) {
    throw new DatabaseRefused(
      `${dataDir} is on a network file system (or FUSE or 9p), where SQLite loses data: use a local disk, or DATABASE_URL=postgres://…`,
    )
  }
}

/**
 * Returns whether a file system type is one of the network.
 * @param type of statfs(2), possibly negative
 */
export const isNetworkFileSystem = (type: number): boolean => networkFileSystems.has(type >>> 0)

/** A lock file that this process holds. */
export type DataDirLock = { release(): void }

/** Another command may need seconds to create the database. */
const lockWaitMs = { server: 1_000, command: 10_000 } as const

/** Takes the lock; undefined while another process holds it. The kernel releases it when the process ends. */
export const lockDataDir = (dataDir: string, waitMs = 0): DataDirLock | undefined => lockFile(join(dataDir, 'lock.db'), waitMs)

/** Locks any file, and creates it if necessary. */
export function lockFile(path: string, waitMs = 0): DataDirLock | undefined {
  let lock: Sqlite | undefined
  try {
    const connection = new Sqlite(path, { create: true })
    lock = connection
    connection.run(`PRAGMA busy_timeout = ${waitMs}`)
    // The file stays empty, and a journal would need disk space.
    connection.run('PRAGMA journal_mode = MEMORY')
    connection.run('BEGIN EXCLUSIVE')
    return { release: () => connection.close() }
  } catch (error) {
    lock?.close()
    if (engineErrorCode(error)?.startsWith('SQLITE_BUSY')) return undefined
    throw causeOf(error, path)
  }
}

/** Locks all directories or none. */
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
