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
import { foldOnFullDisk } from './sqlite/full-disk.ts'
import { isCurrentSqlite, migrateSqlite } from './sqlite/migrate.ts'
import { causeOf } from './sqlite/open-failure.ts'
import { removeRemains } from './temporary-files.ts'

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
  /** The disk is full, and the log was moved into the file to make room. */
  folded: boolean
  /** What an operator should mend, though it keeps nothing from working. */
  warnings: string[]
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
): Opened {
  const directories = directoriesOf(url, dataDir)
  for (const directory of directories) prepareDataDir(directory)
  // A command may hold the lock for the moment in which it opens the database, and migrates it. A server holds it for good.
  const waits = as === 'server' || !naming(file, () => isCurrentSqlite(file, sqliteMigrations))
  const lock = lockAll(directories, waits ? lockWaitMs[as] : 0)
  if (!lock && as === 'server')
    throw new DatabaseRefused(`another souk already serves ${directories.join(' or ')}: stop it, or set another DATA_DIR`)
  try {
    refuseOtherName(file)
    const folded = as === 'server' && foldOnFullDisk(file)
    if (as === 'server') removeOwnRemains(file, dataDir, directories)
    const how = { backups: join(dataDir, 'backups'), now, mayMigrate: lock !== undefined }
    const migration = naming(file, () => migrateSqlite(file, sqliteMigrations, how))
    if (as === 'command') lock?.release()
    const db = openSqlite(file, { ...sqlite, besideServer: as === 'command' })
    try {
      // Again, with our own locks held: of two that start at once, at least one sees the other.
      refuseOtherName(file)
    } catch (error) {
      void db.close()
      throw error
    }
    const close = async () => {
      await db.close()
      if (as === 'server') lock?.release()
    }
    const warnings = [...directories, file].flatMap((path) => openToAll(path) ?? [])
    return { db: { ...db, close }, migrated: migration.applied, backup: migration.backup, folded, warnings }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** Removes unfinished files: all of the data directory, and only those of the database file elsewhere, where other programs have files too. */
function removeOwnRemains(file: string, dataDir: string, directories: readonly string[]): void {
  const own = [resolve(dataDir), join(resolve(dataDir), 'backups')]
  for (const folder of own) removeRemains(folder, () => true)
  const names = isThere(file) ? [basename(file), basename(realpathSync(file))] : [basename(file)]
  for (const folder of directories) if (!own.includes(folder)) removeRemains(folder, (target) => names.includes(target))
}

/** The path in a `file:` URL as we write it: `file:/srv/shop.db`, `file:./shop.db`, `file:///srv/shop.db`. */
export const databaseFile = (url: string): string => url.replace(/^file:(\/\/(?=\/))?/, '')

/** Has a refusal say which file it is about. */
function naming<T>(file: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw error instanceof DatabaseRefused ? new DatabaseRefused(`${file}: ${error.message}`) : error
  }
}

/**
 * For a file that is to be read or served by this name.
 * @throws DatabaseRefused while another process has it open by another one
 */
export function refuseOtherName(file: string): void {
  const pid = isThere(file) ? openUnderAnotherName(file) : undefined
  if (pid !== undefined)
    throw new DatabaseRefused(
      `${file} is open under another name (a link or a mount) in process ${pid}: stop that one, or use the same name; two names ruin a database`,
    )
}

/** Whether something has this name. Throws where a directory on the way is closed to us: `existsSync` would say no. */
export const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/** What nobody else may serve: the data directory, that of the file where DATABASE_URL puts it elsewhere, and that to which its name is a link. */
export function directoriesOf(url: string, dataDir: string): string[] {
  const file = resolve(databaseFile(url))
  const real = isThere(file) ? realpathSync(file) : file
  const ofLink = real === file || dirname(real) === realpathSync(dirname(file)) ? [] : [dirname(real)]
  return [...new Set([resolve(dataDir), dirname(file), ...ofLink])]
}

/** NFS, SMB, CIFS, SMB2, AFS, Coda, Ceph, FUSE, 9p, Lustre: their locks are not to be trusted with a database. */
const networkFileSystems = new Set([
  ...[0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x73757245, 0x00c36400],
  ...[0x65735546, 0x01021997, 0x0bd00bd0],
])

const [writableByOthers, readableByOthers, enteredByOthers] = [0o002, 0o004, 0o001]
const modeText = (mode: number) => (mode & 0o777).toString(8).padStart(4, '0')

/** What to run where everybody on the machine may read a directory or a file; undefined where they may not. */
function openToAll(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat || (stat.mode & readableByOthers) === 0) return undefined
  // A file lies behind its directory.
  if (!stat.isDirectory() && (statSync(dirname(path)).mode & enteredByOthers) === 0) return undefined
  return `${path} may be read by everybody on this machine (mode ${modeText(stat.mode)}): run \`chmod ${stat.isDirectory() ? 700 : 600} ${path}\``
}

/**
 * Makes the directory for the owner alone.
 * @throws DatabaseRefused for one that everybody may write to, or that is on a network file system
 */
export function prepareDataDir(dataDir: string): void {
  makeDirectory(dataDir)
  const { mode } = statSync(dataDir)
  if ((mode & writableByOthers) !== 0)
    throw new DatabaseRefused(
      `${dataDir} may be written by everybody on this machine (mode ${modeText(mode)}), who could put another database in place: run \`chmod 700 ${dataDir}\``,
    )
  if (isNetworkFileSystem(statfsSync(dataDir).type)) {
    throw new DatabaseRefused(
      `${dataDir} is on a network file system (or FUSE or 9p), where SQLite loses data: use a local disk, or DATABASE_URL=postgres://…`,
    )
  }
}

/** @param type as statfs(2) gives it; the sign is an accident of its size */
export const isNetworkFileSystem = (type: number): boolean => networkFileSystems.has(type >>> 0)

export type DataDirLock = { release(): void }

/** A command may wait for another one that makes the database: that takes a slow machine seconds. */
const lockWaitMs = { server: 1_000, command: 10_000 } as const

/** Undefined while another process holds it. The kernel drops the lock when its process ends, however it ends. */
export const lockDataDir = (dataDir: string, waitMs = 0): DataDirLock | undefined => lockFile(join(dataDir, 'lock.db'), waitMs)

/** The same on any file, which is made for it. */
export function lockFile(path: string, waitMs = 0): DataDirLock | undefined {
  let lock: Sqlite | undefined
  try {
    const connection = new Sqlite(path, { create: true })
    lock = connection
    connection.run(`PRAGMA busy_timeout = ${waitMs}`)
    // Nothing is ever written to it, and a journal would need room on a full disk.
    connection.run('PRAGMA journal_mode = MEMORY')
    connection.run('BEGIN EXCLUSIVE')
    return { release: () => connection.close() }
  } catch (error) {
    lock?.close()
    if (engineErrorCode(error)?.startsWith('SQLITE_BUSY')) return undefined
    throw causeOf(error, path)
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
