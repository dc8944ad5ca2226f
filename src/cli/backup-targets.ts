/** The configured backup targets, as commands read and write them. */
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
import { countText } from './count-text.ts'
import { readOnlyDeps } from './database-command.ts'
import { embeddedFile, inspectFile } from './database-file.ts'
import { fullVerification, printVerification } from './documents.ts'
import { explain } from './failure.ts'
import { onInterruption } from './interruption.ts'
import { createProgress } from './progress.ts'
import { askSecret } from './prompt.ts'

const stream = process.stderr
const incompleteStatus = 1
/** Commands report failures by their result. */
const { clock, log } = readOnlyDeps
const port = { log, sleep: Bun.sleep }

/** Returns the configured targets. */
export const backupPlacesOf = (config: Config) => backupPlaces(config, { ...port, now: clock.now })

/** `souk backup` without a file: makes one backup in every configured target. */
export async function backUpToTargets(config: Config): Promise<number> {
  const path = embeddedFile(config, 'use pg_dump, or archive its log (docs/operations.md)')
  const { bytes } = inspectFile(path)
  const targets = backupPlacesOf(config)
  const interruption = onInterruption(
    () => 'Stopped. No backup was created. Run it again',
    () => {
      for (const place of targets) dropUnfinished(stagedCopy(config, place))
    },
  )
  const progress = createProgress({ total: bytes, label: 'Copying', stream, unit: 'bytes' })
  const { keyring, ...verification } = fullVerification(config, path)
  const deps = {
    ...{ config, clock, log, sleep: Bun.sleep, randomBytes, build: { version }, documentStores: documentStores(config, port) },
    ...{ backupPlaces: targets, backupTargets: new Map(), readFile: readCopy },
    diskFree: () => freeIn(backupsDirectory(config)),
    keyring: { unseal: keyring.unseal, secretsText: () => JSON.stringify(loadSecrets(config, false)) },
  }
  const results = await makeBackup(deps, {
    file: databaseFileAt(path),
    isPaced: false,
    onBytes: (done) => progress.at(done),
    verification,
  }).finally(progress.end)
  interruption.end()
  return results.map(printBackup).some((isWhole) => !isWhole) ? incompleteStatus : 0
}

function freeIn(directory: string): number {
  makeDirectory(directory)
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** @returns whether the backup is complete */
function printBackup(one: BackupResult): boolean {
  const { place } = one.place.store
  if ('error' in one) {
    process.stderr.write(`Backup to ${place} failed. Earlier backups are unchanged. ${explain(one.error, {}).text}\n`)
    return false
  }
  const { name, database, documents, missing, withKeys } = one.manifest
  const { damaged, unverifiable } = one.verified
  const count = documents.length - missing.length
  const beside = count === 0 ? '' : `, ${countText(count, 'file')}`
  process.stdout.write(
    `Backup ${name} created in ${place} (${bytesText(database.bytes)}${beside})${damaged.length + unverifiable.length === 0 ? ' and verified' : ''}.\n`,
  )
  process.stdout.write(
    withKeys
      ? "The backup is encrypted and includes the keys. Keep the passphrase elsewhere: the backup can't be opened without it.\n"
      : "The backup doesn't include the keys, and its secrets can't be read without them: keep a copy of the keys elsewhere, or set BACKUP_PASSPHRASE.\n",
  )
  if (missing.length > 0)
    process.stderr.write(`${countText(missing.length, 'file')} could not be copied. Run \`souk check\` for details.\n`)
  return printVerification(one.verified) && missing.length === 0
}

/** Targets that this command opened, so that it asks for a passphrase once. */
const openTargets = new WeakMap<Config, Map<string, BackupTarget>>()
/** Returns a target that this command has already opened. */
export const findOpenTarget = (config: Config, place: ReturnType<typeof backupPlacesOf>[number]): BackupTarget | undefined =>
  openTargets.get(config)?.get(place.store.place)

/** Opens an existing target. Asks for the passphrase if the target is sealed and none is configured. */
export async function openBackupTarget(config: Config, place: ReturnType<typeof backupPlacesOf>[number]): Promise<BackupTarget> {
  const target = await openAskingPassphrase(config, place)
  const targets = openTargets.get(config) ?? new Map<string, BackupTarget>()
  openTargets.set(config, targets.set(place.store.place, target))
  return target
}

async function openAskingPassphrase(config: Config, place: ReturnType<typeof backupPlacesOf>[number]): Promise<BackupTarget> {
  const mustAsk = config.backupPassphrase === undefined && (await isSealedPlace(place))
  const passphrase = mustAsk
    ? await askSecret({ what: 'passphrase', twice: false, minLength: 1, maxLength: 1_000 })
    : config.backupPassphrase
  return openTarget(place, passphrase, { randomBytes, mayCreate: false })
}

/** `souk backup --list`. */
export async function printBackups(config: Config): Promise<number> {
  let status = 0
  for (const place of backupPlacesOf(config)) {
    const { backups, unreadable, unrecorded } = await listBackups(await openBackupTarget(config, place))
    process.stdout.write(`${place.store.place}:${backups.length === 0 ? ' no backups' : ''}\n`)
    for (const { name, at, bytes, documents, missing, instance } of backups)
      process.stdout.write(
        `  ${name}  ${new Date(at).toISOString()}  ${bytesText(bytes)}  ${countText(documents.length - missing.length, 'file')}  instance ${instance}\n`,
      )
    for (const name of unrecorded) process.stderr.write(`${name} ${withoutManifestText}.\n`)
    if (unreadable.length === 0) continue
    process.stderr.write(`Unreadable (other passphrase, damaged, or written by a newer version): ${unreadable.join(', ')}\n`)
    status = incompleteStatus
  }
  return status
}

/**
 * Finds a backup by name in any target; `latest` is the newest.
 * @throws the first target's error if no target has it
 */
export async function findNamedBackup(config: Config, name: string): Promise<FoundBackup> {
  const candidates: FoundBackup[] = []
  const errors: unknown[] = []
  for (const place of backupPlacesOf(config))
    try {
      candidates.push(await findBackup(await openBackupTarget(config, place), name, clock.now()))
    } catch (error) {
      errors.push(error)
    }
  const [first] = candidates.sort((a, b) => b.manifest.at - a.manifest.at)
  if (first) {
    for (const error of errors) process.stderr.write(`${explain(error, {}).text}\n`)
    for (const one of candidates)
      for (const passed of one.passedOver) process.stderr.write(`${passed} in ${one.raw.place} ${withoutManifestText}.\n`)
    return first
  }
  throw errors[0]
}

/**
 * Downloads the database of a backup into a new file next to `target` and syncs it.
 * @throws OperatorError if it was altered; the file is then removed
 */
export async function fetchToFile(found: FoundBackup, target: string): Promise<string> {
  const { manifest, store } = found
  makeDirectory(dirname(target))
  const temporary = newTemporary(target)
  const progress = createProgress({ total: manifest.database.bytes, label: 'Downloading', stream, unit: 'bytes' })
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
      ? new OperatorError(`The database of backup ${manifest.name} in ${store.place} can't be opened: it was changed or damaged`)
      : error
  } finally {
    closeSync(descriptor)
    progress.end()
  }
}
