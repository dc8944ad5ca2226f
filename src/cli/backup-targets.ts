/** The places of the backups that the settings name, as commands read and write them. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { dropUnfinished, makeDirectory } from '../../db/sqlite/copy.ts'
import { databaseFileAt } from '../../db/sqlite/file.ts'
import { newTemporary } from '../../db/temporary-files.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { loadSecrets } from '../keys.ts'
import { bytesText } from '../lib/progress.ts'
import { SealBroken } from '../lib/sealed-stream.ts'
import { documentStores } from '../modules/lending/lending-document/index.ts'
import {
  type BackupResult,
  type BackupTarget,
  backupPlaces,
  backupsDirectory,
  type FoundBackup,
  fetchDatabase,
  findBackup,
  isSealedPlace,
  listBackups,
  makeBackup,
  openTarget,
  readCopy,
  stagedCopy,
  withoutManifestText,
} from '../modules/operations/backup/index.ts'
import { version } from '../version.ts'
import { embeddedFile, inspectFile } from './database-file.ts'
import { lookingAtAll, tellLooked } from './documents.ts'
import { explain } from './failure.ts'
import { onInterruption } from './interruption.ts'
import { createProgress } from './progress.ts'
import { askSecret } from './prompt.ts'

const stream = process.stderr
const incompleteStatus = 1
/** A command says by its result what did not work. */
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const clock = { now: () => Date.now(), monotonic: () => performance.now() }
const port = { log, sleep: Bun.sleep }

/** Where backups go. */
export const placesOf = (config: Config) => backupPlaces(config, { ...port, now: clock.now })

/** `souk backup` without a file: one now, in every place that the settings name. */
export async function backUpNow(config: Config): Promise<number> {
  const path = embeddedFile(config, 'back it up with pg_dump, or archive its log (docs/operations.md)')
  const { bytes } = inspectFile(path)
  const places = placesOf(config)
  const interruption = onInterruption(
    () => 'Stopped: no backup was made. Run it again',
    () => {
      for (const place of places) dropUnfinished(stagedCopy(config, place))
    },
  )
  const progress = createProgress({ total: bytes, label: 'Copying', stream, unit: 'bytes' })
  const { keyring, ...verification } = lookingAtAll(config, path)
  const deps = {
    ...{ config, clock, log, sleep: Bun.sleep, randomBytes, build: { version }, documentStores: documentStores(config, port) },
    ...{ backupPlaces: places, backupTargets: new Map(), readFile: readCopy },
    diskFree: () => freeIn(backupsDirectory(config)),
    keyring: { unseal: keyring.unseal, secretsText: () => JSON.stringify(loadSecrets(config, false)) },
  }
  const all = await makeBackup(deps, {
    file: databaseFileAt(path),
    isPaced: false,
    onBytes: (done) => progress.at(done),
    verification,
  }).finally(progress.end)
  interruption.end()
  return all.map(tell).some((isWhole) => !isWhole) ? incompleteStatus : 0
}

function freeIn(directory: string): number {
  makeDirectory(directory)
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** @returns whether all of it is there */
function tell(one: BackupResult): boolean {
  const { place } = one.place.store
  if ('error' in one) {
    process.stderr.write(`No backup was made in ${place}; those from before are as they were. ${explain(one.error, {}).text}\n`)
    return false
  }
  const { name, database, documents, missing, withKeys } = one.manifest
  const { damaged, unverifiable } = one.verified
  const count = documents.length - missing.length
  const beside = count === 0 ? '' : `, with ${count === 1 ? 'a document' : `${count} documents`}`
  process.stdout.write(
    `Backup ${name} is in ${place} (${bytesText(database.bytes)}${beside})${damaged.length + unverifiable.length === 0 ? ', whole and checked' : ''}.\n`,
  )
  process.stdout.write(
    withKeys
      ? 'It is sealed, and the keys are in it: keep the passphrase elsewhere, nothing else opens it.\n'
      : 'The keys are not in it, and its secrets cannot be read without them: keep a copy of them elsewhere, or set BACKUP_PASSPHRASE.\n',
  )
  if (missing.length > 0)
    process.stderr.write(
      `${missing.length === 1 ? 'A document is' : `${missing.length} documents are`} named by it and could not be copied: \`souk check\` tells more.\n`,
    )
  return tellLooked(one.verified) && missing.length === 0
}

/** Those that a command has opened: a passphrase is asked for once. */
const openedPlaces = new WeakMap<Config, Map<string, BackupTarget>>()
/** A place that this command has opened already. */
export const openedBefore = (config: Config, place: ReturnType<typeof placesOf>[number]): BackupTarget | undefined =>
  openedPlaces.get(config)?.get(place.store.place)

/** A place that is there already. The passphrase is asked for where it is sealed and the settings have none. */
export async function opened(config: Config, place: ReturnType<typeof placesOf>[number]): Promise<BackupTarget> {
  const target = await openedNow(config, place)
  const known = openedPlaces.get(config) ?? new Map<string, BackupTarget>()
  openedPlaces.set(config, known.set(place.store.place, target))
  return target
}

async function openedNow(config: Config, place: ReturnType<typeof placesOf>[number]): Promise<BackupTarget> {
  const mustAsk = config.backupPassphrase === undefined && (await isSealedPlace(place))
  const passphrase = mustAsk
    ? await askSecret({ what: 'passphrase', twice: false, minLength: 1, maxLength: 1_000 })
    : config.backupPassphrase
  return openTarget(place, passphrase, { randomBytes, mayCreate: false })
}

/** `souk backup --list`. */
export async function listAll(config: Config): Promise<number> {
  let status = 0
  for (const place of placesOf(config)) {
    const { backups, unreadable, unrecorded } = await listBackups(await opened(config, place))
    process.stdout.write(`${place.store.place}:${backups.length === 0 ? ' no backup' : ''}\n`)
    for (const { name, at, bytes, documents, missing, instance } of backups)
      process.stdout.write(
        `  ${name}  ${new Date(at).toISOString()}  ${bytesText(bytes)}  ${documents.length - missing.length} documents  instance ${instance}\n`,
      )
    for (const name of unrecorded) process.stderr.write(`${name} ${withoutManifestText}.\n`)
    if (unreadable.length === 0) continue
    process.stderr.write(
      `These cannot be read, as they are sealed under another passphrase, damaged, or of a newer souk: ${unreadable.join(', ')}\n`,
    )
    status = incompleteStatus
  }
  return status
}

/** A backup of one of the places, the newest of all for `latest`; what a place says that cannot tell is said where no other can. */
export async function backupNamed(config: Config, name: string): Promise<FoundBackup> {
  const found: FoundBackup[] = []
  const errors: unknown[] = []
  for (const place of placesOf(config))
    try {
      found.push(await findBackup(await opened(config, place), name, clock.now()))
    } catch (error) {
      errors.push(error)
    }
  const [first] = found.sort((a, b) => b.manifest.at - a.manifest.at)
  if (first) {
    for (const error of errors) process.stderr.write(`${explain(error, {}).text}\n`)
    for (const one of found)
      for (const passed of one.passedOver) process.stderr.write(`${passed} in ${one.raw.place} ${withoutManifestText}.\n`)
    return first
  }
  throw errors[0]
}

/**
 * Fetches the database of a backup into a file of its own beside `target`, on the disk when it returns.
 * @throws OperatorError when it is not what was put there; then nothing is left of it
 */
export async function fetched(found: FoundBackup, target: string): Promise<string> {
  const { manifest, store } = found
  makeDirectory(dirname(target))
  const temporary = newTemporary(target)
  const progress = createProgress({ total: manifest.database.bytes, label: 'Fetching', stream, unit: 'bytes' })
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    let bytes = 0
    for await (const chunk of fetchDatabase(found)) {
      for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at)
      bytes += chunk.length
      progress.at(bytes)
    }
    fsyncSync(descriptor)
    return temporary
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error instanceof SealBroken
      ? new OperatorError(
          `The database of backup ${manifest.name} in ${store.place} does not open: it was changed, or its disk has damaged it`,
        )
      : error
  } finally {
    closeSync(descriptor)
    progress.end()
  }
}
