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
import { openWithPassphrase } from '../lib/passphrase.ts'
import { masterKey } from '../lib/seal.ts'
import { createFileStore, type NamedFile } from '../modules/lending/lending-document/index.ts'
import { documentsOf as documentsIn, isBackupName, readKeys, rowProblems } from '../modules/operations/backup/index.ts'
import { backupNamed, fetched } from './backup-targets.ts'
import type { Input } from './command.ts'
import { copyWithProgress, problemsWithProgress } from './copy-database.ts'
import { embeddedFile, type FileState, inspectFile, withReader } from './database-file.ts'
import {
  type DocumentSource,
  documentsOfBackup,
  keepAs,
  keepDocuments,
  markStores,
  namedFiles,
  rehouse,
  restoreDocuments,
} from './documents.ts'
import { UsageError } from './failure.ts'
import { onInterruption } from './interruption.ts'
import { askSecret } from './prompt.ts'
import { erasedSince, gatherErased } from './restore-erased.ts'
import { builtAsOf, keysBeside, type Moment, momentOf, shippedTarget } from './restore-moment.ts'

/** The database is in place, and not all of its documents. */
const incompleteStatus = 1
/** What SQLite keeps beside a file, and would read again into another of the same name. */
const companions = ['-wal', '-shm', '-journal']

/** Where a backup comes from. */
type Source = {
  /** What is said of it. */
  readonly what: string
  readonly documents: DocumentSource
  /** A checked copy of its database, to be handed to `publish`. */
  copy(): Promise<string>
  /** Keys that are in it. */
  keys(): Promise<string | undefined>
  readonly state: FileState | undefined
}

/** `souk restore FILE|NAME|latest`: puts a backup in place of the database, with the server stopped. */
export async function restore(input: Input): Promise<number> {
  const config = input.config()
  const status = await restoreInto(config, input)
  if (!input.switches.has('check')) return status
  return Math.max(status, await (await import('./check.ts')).check(input))
}

async function restoreInto(config: Config, { positionals: [named = ''], switches, values }: Input): Promise<number> {
  const target = embeddedFile(config, 'restore it with pg_restore or psql')
  const directories = directoriesOf(config.databaseUrl, config.dataDir)
  for (const directory of directories) prepareDataDir(directory)
  const lock = lockAll(directories)
  if (!lock) throw new OperatorError(`A souk runs on ${config.dataDir}: stop it first`)
  try {
    const to = values.get('to')
    const strays = to === undefined ? ['instance', 'until-damage'].filter((flag) => values.has(flag) || switches.has(flag)) : []
    if (strays.length > 0) throw new UsageError(`--${strays[0]} goes with --to: \`souk restore --help\` shows how it is called`)
    if ((to === undefined) === (named === ''))
      throw new OperatorError('Name a backup (a FILE, a NAME or latest), or say --to TIME: one of both')
    const isNamed = to !== undefined || named === 'latest' || isBackupName(named)
    const present = isThere(target) && !switches.has('force')
    if (present && isNamed) refusePresent(config)
    const moment = to === undefined ? undefined : { to, untilDamage: switches.has('until-damage'), instance: values.get('instance') }
    const source = moment
      ? await sourceAsOf(config, moment, target)
      : isNamed && !isThere(named)
        ? await sourceNamed(config, named, target)
        : sourceFile(named, target)
    if (present) refusePresent(config)
    const keysSource = values.get('keys')
    const given = keysSource === undefined ? undefined : await openKeys(keysSource)
    const interruption = onInterruption(
      () => 'Stopped: nothing was restored, and what was there is as it was. Run it again',
      () => dropUnfinished(target),
    )
    const kept = join(backupsOf(config), `before-restore-${Date.now()}.db`)
    const erased = await gatherErased(config)
    const { missing, state, secrets } = await replaceDatabase(config, { source, given, target, kept })
    interruption.end()
    if (secrets) replaceKeys(config, secrets)
    tellResult(config, target, state)
    tellErased(erasedSince(target, erased.ids))
    return missing === 0 && erased.isWhole ? 0 : incompleteStatus
  } finally {
    lock.release()
  }
}

const backupsOf = ({ dataDir }: Config) => join(dataDir, 'backups')

async function openKeys(file: string): Promise<Secrets> {
  const text = readFileSync(file, 'utf8')
  const passphrase = await askSecret({ what: 'passphrase', twice: false, minLength: 1, maxLength: 1_000 })
  const opened = await openWithPassphrase(text, passphrase)
  if (opened.kind === 'notOurs') throw new OperatorError(`${file} holds no keys of \`souk backup --with-keys\``)
  if (opened.kind === 'newer') throw new OperatorError(`${file} was written by a newer souk: restore it with that version`)
  if (opened.kind === 'refused')
    throw new OperatorError('The passphrase is not the one of that file, or the file was changed: nothing was restored')
  const secrets = parseSecrets(opened.plain)
  if (!secrets) throw new OperatorError(`${file} holds no keys that this version knows`)
  return secrets
}

function refusePresent(config: Config): never {
  throw new OperatorError(
    `A database is in ${config.dataDir} already: --force puts the backup in its place and keeps the present one in ${backupsOf(config)}`,
  )
}

const secretsIn = (text: string | undefined): Secrets | undefined => (text === undefined ? undefined : parseSecrets(text))

function sourceFile(file: string, target: string): Source {
  refusePart(file)
  const state = inspectFile(file)
  return {
    what: documentsOfBackup(file),
    documents: createFileStore(documentsOfBackup(file)),
    async copy() {
      await refuseDamage(file)
      return copyWithProgress({ source: file, target }, state.bytes)
    },
    keys: async () => undefined,
    state,
  }
}

/** What somebody may take for a backup who sees where they are kept. */
function refusePart(file: string): void {
  const advice = 'set BACKUP_DIR to the folder that holds all backups, and name one as `souk backup --list` shows it'
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isDirectory()) throw new OperatorError(`${file} is a folder, and FILE is one file: ${advice}`)
  if (!found?.isFile()) return
  if (readStart(file, sealedMagic.length) === sealedMagic) throw new OperatorError(`${file} is a sealed part of a backup: ${advice}`)
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

/** A backup of the places that the settings name: fetched, and held against its record. */
async function sourceNamed(config: Config, name: string, target: string): Promise<Source> {
  const found = await backupNamed(config, name)
  const { manifest, raw } = found
  process.stdout.write(`Backup ${manifest.name} of ${new Date(manifest.at).toISOString()} in ${raw.place}\n`)
  return {
    what: raw.place,
    documents: documentsIn(raw),
    async copy() {
      const copy = await fetched(found, target)
      try {
        await refuseDamage(copy)
        const problems = rowProblems(manifest.database.rows, withReader(copy, rowsIn))
        if (problems.length > 0)
          throw new OperatorError(`The backup is not what was put there, and nothing was restored: ${problems.join('; ')}`)
        return copy
      } catch (error) {
        rmSync(copy, { force: true })
        throw error
      }
    },
    keys: () => readKeys(found),
    state: undefined,
  }
}

/** What was shipped of the log, made into a database. */
async function sourceAsOf(config: Config, moment: Moment, target: string): Promise<Source> {
  const now = Date.now()
  const to = momentOf(moment.to, now)
  const shipped = await shippedTarget(config)
  let instance = ''
  return {
    what: shipped.raw.place,
    documents: documentsIn(shipped.raw),
    async copy() {
      const copy = await builtAsOf(shipped, moment, to, target)
      instance = copy.instance
      try {
        await refuseDamage(copy.file)
        return copy.file
      } catch (error) {
        rmSync(copy.file, { force: true })
        throw error
      }
    },
    keys: () => keysBeside(shipped, instance, now),
    state: undefined,
  }
}

/**
 * The new file, and its documents, are whole and on the disk, and the keys that it needs are read, before the present one leaves its place.
 * @param places `given`: keys of the operator; `kept`: the file that the present database is kept as
 * @returns how many documents the backup lacks, and the keys that are to take the place of the present ones
 */
async function replaceDatabase(
  config: Config,
  { source, given, target, kept }: { source: Source; given: Secrets | undefined; target: string; kept: string },
): Promise<{ missing: number; state: FileState; secrets: Secrets | undefined }> {
  const copy = await source.copy()
  try {
    const state = source.state ?? inspectFile(copy)
    const secrets = given ?? (missingKeys(config, state).length > 0 ? secretsIn(await source.keys()) : undefined)
    await rehouse(config, source.documents, copy)
    const documents = namedFiles(copy)
    const lost = await keepDocuments(config, kept, documentsOf(target), documents)
    if (lost > 0)
      process.stderr.write(
        `${lost === 1 ? 'A document' : `${lost} documents`} of the present database alone could not be copied out of the bucket, and a server removes ${lost === 1 ? 'it' : 'them'} from there.\n`,
      )
    const { files, missing } = await restoreDocuments(config, source.documents, kept, documents)
    await markStores(config, copy)
    keepPresent(config, target, kept)
    publish(copy, target)
    if (files > 0) process.stdout.write(`${files === 1 ? 'A document is' : `${files} documents are`} restored with it\n`)
    if (missing.length > 0)
      process.stderr.write(
        `${missing.length === 1 ? 'A document of it is' : `${missing.length} documents of it are`} neither in ${source.what} nor in place, or the store that it was in is not in the settings.\n`,
      )
    return { missing: missing.length, state, secrets }
  } catch (error) {
    rmSync(copy, { force: true })
    throw error
  }
}

async function refuseDamage(file: string): Promise<void> {
  const problems = await problemsWithProgress(file)
  if (problems.length > 0)
    throw new OperatorError(`${file} is damaged, and nothing was restored:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
}

/**
 * Gives the present database a second name among the backups and takes away what SQLite keeps beside it: the log of
 * another file brings deleted rows back. The file itself stays in place until the new one takes its name.
 */
function keepPresent(config: Config, target: string, kept: string): void {
  closeForGood(target)
  const present = ['', ...companions].filter((ending) => existsSync(`${target}${ending}`))
  if (present.length === 0) return
  const backups = backupsOf(config)
  makeDirectory(backups)
  for (const ending of present) keepAs(`${target}${ending}`, `${kept}${ending}`)
  syncPath(backups)
  for (const ending of companions) rmSync(`${target}${ending}`, { force: true })
  removeSpool(target)
  // Before the new file has the name: after a power loss the old log must not stand beside it.
  syncPath(dirname(target))
  process.stdout.write(`The database that was there is kept as ${kept}\n`)
}

/** Moves the log into the file, which succeeds only where nobody else has it open. A damaged file is left as it is. */
function closeForGood(target: string): void {
  if (!existsSync(target)) return
  try {
    using connection = new Sqlite(target)
    connection.run('PRAGMA journal_mode = DELETE')
  } catch (error) {
    if (engineErrorCode(error)?.startsWith('SQLITE_BUSY'))
      throw new OperatorError('Another souk command uses the database: wait until it is done, then try again')
  }
}

/** Of a damaged one nobody can say which they are: they stay where they are. */
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
    const kept = join(backups, `before-restore-${Date.now()}.keys.json`)
    makeDirectory(backups)
    keepAs(file, kept)
    // Before the present keys lose their name: a power loss must leave them one.
    syncPath(backups)
    process.stdout.write(`The keys that were there are kept as ${kept}\n`)
  }
  writeKeyFile(file, secrets)
  process.stdout.write(`The keys are restored into ${file}\n`)
}

function tellResult(config: Config, target: string, state: FileState): void {
  process.stdout.write(`The database is restored into ${target}\n`)
  if (state.pending.length > 0) process.stdout.write('It is of an older version: the next start brings it up to date.\n')
  const missing = missingKeys(config, state)
  if (missing.length === 0) return
  const what = `encryption key ${missing.join(', ')}, which is not at hand`
  process.stderr.write(
    `Its secrets are sealed under ${what}: put keys.json of that time into ${config.dataDir}, or restore it with --keys, before you start souk.\n`,
  )
}

function tellErased(customers: number): void {
  if (customers > 0)
    process.stdout.write(
      `${customers === 1 ? 'A customer' : `${customers} customers`} of it ${customers === 1 ? 'was' : 'were'} erased since: the next start erases ${customers === 1 ? 'them' : 'all of them'} again before it lets anybody in.\n`,
    )
}

/** Versions of the keys that the secrets of a database are sealed under and that nobody has here. */
function missingKeys(config: Config, { keyVersions }: FileState): string[] {
  const secrets = config.encryptionKeys.length > 0 ? config.encryptionKeys : (readKeyFile(keyFile(config))?.encryption ?? [])
  const atHand = secrets.map((secret) => masterKey(secret, 'encryption').version)
  return keyVersions.filter((version) => !atHand.includes(version))
}
