import { Database as Sqlite } from 'bun:sqlite'
import { closeSync, existsSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { engineErrorCode } from '../../db/engine.ts'
import { directoriesOf, isThere, lockAll, prepareDataDir } from '../../db/open.ts'
import { dropUnfinished, makeDirectory, publish, syncPath } from '../../db/sqlite/copy.ts'
import { rowsIn } from '../../db/sqlite/copy-manifest.ts'
import { removeSpool } from '../../db/sqlite/log-spool.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { sealedMagic } from '../core/sealed-store.ts'
import { keyFile, parseSecrets, readKeyFile, type Secrets, writeKeyFile } from '../keys.ts'
import { openUnderPassphrase } from '../lib/passphrase.ts'
import { masterKey } from '../lib/seal.ts'
import { createFileStore, type NamedFile } from '../modules/lending/lending-document/index.ts'
import { documentsOf as documentsIn, isBackupName, readKeys, rowProblems } from '../modules/operations/backup/index.ts'
import { fetchToFile, findNamedBackup } from './backup-targets.ts'
import type { Input } from './command.ts'
import { copyWithProgress, findProblemsWithProgress } from './copy-database.ts'
import { countText } from './count-text.ts'
import { embeddedFile, type FileState, inspectFile, withReader } from './database-file.ts'
import {
  adjustStores,
  adoptStores,
  backupDocumentsPathOf,
  type DocumentSource,
  keepDocuments,
  linkOrCopy,
  namedFiles,
  restoreDocuments,
} from './documents.ts'
import { UsageError } from './failure.ts'
import { onInterruption } from './interruption.ts'
import { askSecret } from './prompt.ts'
import { countErasedSince, mergeErasedLists } from './restore-erased.ts'
import { buildDatabaseAsOf, fetchLatestKeys, openLogTarget, parseMoment, type RestoreMoment } from './restore-moment.ts'

/** The database was restored, but not all documents. */
const incompleteStatus = 1
/** SQLite would read these files into another database of the same name. */
const sqliteSideFiles = ['-wal', '-shm', '-journal']

/** Where a backup comes from. */
type Source = {
  /** Its description for people. */
  readonly what: string
  readonly documents: DocumentSource
  /** Makes a checked copy of its database for `publish`. */
  copy(): Promise<string>
  /** Returns the keys that it contains. */
  keys(): Promise<string | undefined>
  readonly state: FileState | undefined
}

/** `souk restore FILE|NAME|latest`: replaces the database of a stopped instance with a backup. */
export async function restore(input: Input): Promise<number> {
  const config = input.config()
  const status = await restoreInto(config, input)
  if (!input.switches.has('check')) return status
  return Math.max(status, await (await import('./check.ts')).check(input))
}

async function restoreInto(config: Config, { positionals: [backupName = ''], switches, values }: Input): Promise<number> {
  const to = values.get('to')
  const misusedFlags = to === undefined ? ['instance', 'until-damage'].filter((flag) => values.has(flag) || switches.has(flag)) : []
  if (misusedFlags.length > 0) throw new UsageError(`--${misusedFlags[0]} needs --to. See \`souk restore --help\`.`)
  if ((to === undefined) === (backupName === '')) throw new UsageError('Choose either a backup (a FILE, a NAME or latest), or --to TIME')
  const moment =
    to === undefined
      ? undefined
      : { at: parseMoment(to, Date.now()), untilDamage: switches.has('until-damage'), instance: values.get('instance') }
  const target = embeddedFile(config, 'use pg_restore or psql')
  const directories = directoriesOf(config.databaseUrl, config.dataDir)
  for (const directory of directories) prepareDataDir(directory)
  const lock = lockAll(directories)
  if (!lock) throw new OperatorError(`souk is running on ${config.dataDir}. Stop it first`)
  try {
    const isNamed = to !== undefined || backupName === 'latest' || isBackupName(backupName)
    const mustNotReplace = isThere(target) && !switches.has('force')
    if (mustNotReplace && isNamed) refuseExistingDatabase(config)
    const source = moment
      ? await buildSourceAsOf(config, moment, target)
      : isNamed && !isThere(backupName)
        ? await fetchNamedSource(config, backupName, target)
        : copySourceFile(backupName, target)
    if (mustNotReplace) refuseExistingDatabase(config)
    const keysSource = values.get('keys')
    const givenSecrets = keysSource === undefined ? undefined : await openKeys(keysSource)
    const interruption = onInterruption(
      () => 'Stopped. Nothing was restored or changed. Run it again',
      () => dropUnfinished(target),
    )
    const replacedFile = join(backupsOf(config), `before-restore-${Date.now()}.db`)
    const erased = await mergeErasedLists(config)
    const { missing, state, secrets } = await replaceDatabase(config, { source, given: givenSecrets, target, replacedFile })
    interruption.end()
    if (secrets) replaceKeys(config, secrets)
    printResult(config, target, state)
    printErased(countErasedSince(target, erased.ids))
    return missing === 0 && erased.isWhole ? 0 : incompleteStatus
  } finally {
    lock.release()
  }
}

const backupsOf = ({ dataDir }: Config) => join(dataDir, 'backups')

async function openKeys(file: string): Promise<Secrets> {
  const text = readFileSync(file, 'utf8')
  const passphrase = await askSecret({ what: 'passphrase', twice: false, minLength: 1, maxLength: 1_000 })
  const result = await openUnderPassphrase(text, passphrase)
  if (result.kind === 'notOurs') throw new OperatorError(`${file} is not a key file of \`souk backup --with-keys\``)
  if (result.kind === 'newer') throw new OperatorError(`${file} was written by a newer souk: restore it with that version`)
  if (result.kind === 'refused') throw new OperatorError('Wrong passphrase, or the file was changed. Nothing was restored')
  const secrets = parseSecrets(result.plain)
  if (!secrets) throw new OperatorError(`${file} contains no keys that this version can read`)
  return secrets
}

function refuseExistingDatabase(config: Config): never {
  throw new OperatorError(
    `${config.dataDir} already contains a database. Use --force to replace it; a copy is kept in ${backupsOf(config)}`,
  )
}

const secretsIn = (text: string | undefined): Secrets | undefined => (text === undefined ? undefined : parseSecrets(text))

function copySourceFile(file: string, target: string): Source {
  refuseCompanionFile(file)
  const state = inspectFile(file, (missing) => new OperatorError(`Database not found: ${missing}`))
  return {
    what: backupDocumentsPathOf(file),
    documents: createFileStore(backupDocumentsPathOf(file)),
    async copy() {
      await refuseDamage(file)
      return copyWithProgress({ source: file, target }, state.bytes)
    },
    keys: async () => undefined,
    state,
  }
}

/** A file inside a backup target may be mistaken for a backup. */
function refuseCompanionFile(file: string): void {
  const advice = 'set BACKUP_DIR to the directory of all backups, and use a name from `souk backup --list`'
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats?.isDirectory()) throw new OperatorError(`${file} is a directory, not a file: ${advice}`)
  if (!stats?.isFile()) return
  if (readStart(file, sealedMagic.length) === sealedMagic) throw new OperatorError(`${file} is an encrypted part of a backup: ${advice}`)
}

function readStart(file: string, length: number): string {
  const bytes = Buffer.alloc(length)
  const descriptor = openSync(file, 'r')
  try {
    return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, length, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** Downloads a backup from a target and compares it with its manifest. */
async function fetchNamedSource(config: Config, name: string, target: string): Promise<Source> {
  const backup = await findNamedBackup(config, name)
  const { manifest, raw } = backup
  process.stdout.write(`Backup ${manifest.name} of ${new Date(manifest.at).toISOString()} in ${raw.place}\n`)
  return {
    what: raw.place,
    documents: documentsIn(raw),
    async copy() {
      const copy = await fetchToFile(backup, target)
      try {
        await refuseDamage(copy)
        const problems = rowProblems(manifest.database.rows, withReader(copy, rowsIn))
        if (problems.length > 0)
          throw new OperatorError(`The backup was changed after it was created. Nothing was restored: ${problems.join('; ')}`)
        return copy
      } catch (error) {
        rmSync(copy, { force: true })
        throw error
      }
    },
    keys: () => readKeys(backup),
    state: undefined,
  }
}

/** Builds the database from the shipped log. */
async function buildSourceAsOf(config: Config, moment: RestoreMoment, target: string): Promise<Source> {
  const now = Date.now()
  const shipped = await openLogTarget(config)
  let instance = ''
  return {
    what: shipped.raw.place,
    documents: documentsIn(shipped.raw),
    async copy() {
      const copy = await buildDatabaseAsOf(shipped, moment, target)
      instance = copy.instance
      try {
        await refuseDamage(copy.file)
        return copy.file
      } catch (error) {
        rmSync(copy.file, { force: true })
        throw error
      }
    },
    keys: () => fetchLatestKeys(shipped, instance, now),
    state: undefined,
  }
}

/**
 * Replaces the database after the new file, its documents and the needed keys are complete and synced.
 * @param given keys that the operator named
 * @param replacedFile keeps the replaced database
 * @returns how many documents are missing, and the keys that replace the present ones
 */
async function replaceDatabase(
  config: Config,
  { source, given, target, replacedFile }: { source: Source; given: Secrets | undefined; target: string; replacedFile: string },
): Promise<{ missing: number; state: FileState; secrets: Secrets | undefined }> {
  const copy = await source.copy()
  try {
    const state = source.state ?? inspectFile(copy)
    const secrets = given ?? (missingKeys(config, state).length > 0 ? secretsIn(await source.keys()) : undefined)
    await adjustStores(config, source.documents, copy)
    const documents = namedFiles(copy)
    const lost = await keepDocuments(config, replacedFile, documentsOf(target), documents)
    if (lost > 0)
      process.stderr.write(
        `${countText(lost, 'file')} of the current database could not be copied from the bucket, where the server will delete ${lost === 1 ? 'it' : 'them'}.\n`,
      )
    const { files, missing } = await restoreDocuments(config, source.documents, replacedFile, documents)
    await adoptStores(config, copy)
    keepReplacedDatabase(config, target, replacedFile)
    publish(copy, target)
    if (files > 0) process.stdout.write(`${countText(files, 'file')} (documents and images) restored\n`)
    if (missing.length > 0)
      process.stderr.write(
        `${countText(missing.length, 'file')} ${missing.length === 1 ? 'is' : 'are'} missing in ${source.what} and in the data directory, or their store is not in the settings.\n`,
      )
    return { missing: missing.length, state, secrets }
  } catch (error) {
    rmSync(copy, { force: true })
    throw error
  }
}

async function refuseDamage(file: string): Promise<void> {
  const problems = await findProblemsWithProgress(file)
  if (problems.length > 0)
    throw new OperatorError(`${file} is damaged. Nothing was restored:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
}

/**
 * Links the present database into the backups and removes its log, which would bring deleted rows back into another
 * file. The file stays in place until it is replaced.
 */
function keepReplacedDatabase(config: Config, target: string, replacedFile: string): void {
  checkpointAndClose(target)
  const present = ['', ...sqliteSideFiles].filter((ending) => existsSync(`${target}${ending}`))
  if (present.length === 0) return
  const backups = backupsOf(config)
  makeDirectory(backups)
  for (const ending of present) linkOrCopy(`${target}${ending}`, `${replacedFile}${ending}`)
  syncPath(backups)
  for (const ending of sqliteSideFiles) rmSync(`${target}${ending}`, { force: true })
  removeSpool(target)
  // Synced before the new file takes the name: the old log must not reappear after a power loss.
  syncPath(dirname(target))
  process.stdout.write(`The previous database was kept as ${replacedFile}\n`)
}

/** Merges the log into the file; possible only without other users. Leaves a damaged file unchanged. */
function checkpointAndClose(target: string): void {
  if (!existsSync(target)) return
  try {
    using connection = new Sqlite(target)
    connection.run('PRAGMA journal_mode = DELETE')
  } catch (error) {
    if (engineErrorCode(error)?.startsWith('SQLITE_BUSY'))
      throw new OperatorError('Another souk command is using the database. Wait for it to finish, then try again')
  }
}

/** The documents of a damaged database are unknown, so they stay. */
function documentsOf(file: string): NamedFile[] {
  try {
    return namedFiles(file)
  } catch {
    return []
  }
}

function replaceKeys(config: Config, secrets: Secrets): void {
  const file = keyFile(config)
  if (existsSync(file)) {
    const backups = backupsOf(config)
    const replacedKeys = join(backups, `before-restore-${Date.now()}.keys.json`)
    makeDirectory(backups)
    linkOrCopy(file, replacedKeys)
    // Synced before the present keys are renamed: one key file must survive a power loss.
    syncPath(backups)
    process.stdout.write(`The previous keys were kept as ${replacedKeys}\n`)
  }
  writeKeyFile(file, secrets)
  process.stdout.write(`Keys restored to ${file}\n`)
}

function printResult(config: Config, target: string, state: FileState): void {
  process.stdout.write(`Database restored to ${target}\n`)
  if (state.pending.length > 0) process.stdout.write('The backup is from an older version: the next start migrates it.\n')
  const missing = missingKeys(config, state)
  if (missing.length === 0) return
  const what = `encryption key ${missing.join(', ')}, which is missing`
  process.stderr.write(
    `The secrets need ${what}: before you start souk, copy the keys.json of that time to ${config.dataDir}, or restore it with --keys.\n`,
  )
}

function printErased(customers: number): void {
  if (customers > 0)
    process.stdout.write(
      `${countText(customers, 'customer')} ${customers === 1 ? 'was' : 'were'} erased after this backup: the next start erases ${customers === 1 ? 'them' : 'all of them'} again before it accepts requests.\n`,
    )
}

/** Returns the key versions that a database needs and this instance lacks. */
function missingKeys(config: Config, { keyVersions }: FileState): string[] {
  const secrets = config.encryptionKeys.length > 0 ? config.encryptionKeys : (readKeyFile(keyFile(config))?.encryption ?? [])
  const atHand = secrets.map((secret) => masterKey(secret, 'encryption').version)
  return keyVersions.filter((version) => !atHand.includes(version))
}
