import { randomBytes } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { directoriesOf, isThere } from '../../db/open.ts'
import { dropUnfinished, publish } from '../../db/sqlite/copy.ts'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/errors.ts'
import { keyFile, loadSecrets, writePrivateFile } from '../keys.ts'
import { sealUnderPassphrase } from '../lib/passphrase.ts'
import { bytesText } from '../lib/progress.ts'
import { type CopyResult, documentsDirectory } from '../modules/lending/lending-document/index.ts'
import type { Input } from './command.ts'
import { copyWithProgress } from './copy-database.ts'
import { countText } from './count-text.ts'
import { embeddedFile, inspectFile } from './database-file.ts'
import { backUpDocuments, documentsPathOf, fullVerification, namedFiles, printVerification, removeUnnamedDocuments } from './documents.ts'
import { assertDirectoryOf, UsageError } from './failure.ts'
import { onInterruption } from './interruption.ts'
import { askSecret } from './prompt.ts'

/** The database was copied, but not all documents. */
const incompleteStatus = 1
/** Long enough to resist guessing. */
const passphraseLength = { minLength: 12, maxLength: 1_000 }

/** `souk backup [FILE]`: copies the database and its documents while a server may run. */
export async function backup({ config: settings, positionals: [target], switches }: Input): Promise<number> {
  const config = settings()
  const flags = ['force', 'with-keys'].filter((flag) => switches.has(flag))
  if (switches.has('list')) {
    if (target !== undefined || flags.length > 0)
      throw new UsageError("--list can't be combined with other arguments. See `souk backup --help`.")
    return (await import('./backup-targets.ts')).printBackups(config)
  }
  if (target === undefined) {
    if (flags.length > 0) throw new UsageError(`--${flags[0]} needs FILE. See \`souk backup --help\`.`)
    return (await import('./backup-targets.ts')).backUpToTargets(config)
  }
  return backUpInto(config, target, switches)
}

async function backUpInto(config: Config, target: string, switches: ReadonlySet<string>): Promise<number> {
  const file = embeddedFile(config, 'use pg_dump')
  const { bytes } = inspectFile(file)
  const keysTarget = switches.has('with-keys') ? `${target}.keys` : undefined
  refuseLiveFiles(config, file, [target, keysTarget])
  assertDirectoryOf(target)
  if (!switches.has('force')) refuseExisting([target, keysTarget])
  // Reports missing keys before the work.
  if (keysTarget) loadSecrets(config, false)
  const passphrase = keysTarget ? await askSecret({ what: 'passphrase', twice: true, ...passphraseLength }) : ''
  const interruption = onInterruption(
    () => 'Stopped. No backup was created. Run it again',
    () => dropUnfinished(target),
  )
  // Copies current documents first: those replaced during the database copy would be missing.
  await backUpDocuments(config, target, namedFiles(file))
  const copy = await copyWithProgress({ source: file, target }, bytes)
  const documents = namedFiles(copy)
  const copyResult = await backUpDocuments(config, target, documents, fullVerification(config, file)).catch((error: unknown) => {
    dropUnfinished(target)
    throw error
  })
  publish(copy, target)
  await removeUnnamedDocuments(target, documents)
  interruption.end()
  process.stdout.write(`Database backed up to ${target} (${bytesText(statSync(target).size)}) and verified.\n`)
  printDocuments(target, copyResult)
  if (keysTarget) await exportKeys(config, keysTarget, passphrase)
  else process.stdout.write(`The backup doesn't include the keys, and its secrets can't be read without them: ${adviceOnKeys(config)}.\n`)
  return printVerification(copyResult) && copyResult.missing.length === 0 ? 0 : incompleteStatus
}

/** Read after the copy: a rotation in between keeps every older key. */
async function exportKeys(config: Config, target: string, passphrase: string): Promise<void> {
  writePrivateFile(target, await sealUnderPassphrase(JSON.stringify(loadSecrets(config, false)), passphrase, randomBytes))
  process.stdout.write(`Keys written to ${target}, encrypted with the passphrase.\n`)
}

function adviceOnKeys(config: Config): string {
  const file = keyFile(config)
  if (isThere(file)) return `keep a copy of ${file} elsewhere, or use --with-keys`
  return config.encryptionKeys.length > 0
    ? 'keep a copy of the keys in your settings elsewhere, or use --with-keys'
    : `${file} is missing: restore it from your copy of the keys`
}

function printDocuments(target: string, { files, bytes, missing }: CopyResult): void {
  if (files > 0)
    process.stdout.write(
      `${countText(files, 'file')} (documents and images) copied to ${documentsPathOf(target)} (${bytesText(bytes)}), still encrypted.\n`,
    )
  if (missing.length > 0)
    process.stderr.write(
      `${countText(missing.length, 'file')} could not be copied: missing, damaged, or in a store that doesn't answer. Run \`souk check\` for details.\n`,
    )
}

function refuseExisting(targets: readonly (string | undefined)[]): void {
  const existing = targets.find((target) => target !== undefined && isThere(target))
  if (existing) throw new OperatorError(`${existing} already exists. Choose another name, or use --force`)
}

/** A backup never replaces a file of the running instance, not even a missing one. */
function refuseLiveFiles(config: Config, file: string, targets: readonly (string | undefined)[]): void {
  for (const target of targets) if (target !== undefined) refuseAmongDocuments(config, target)
  const besideFile = ['', '-wal', '-shm', '-journal'].map((ending) => `${file}${ending}`)
  const locks = directoriesOf(config.databaseUrl, config.dataDir).map((directory) => join(directory, 'lock.db'))
  const live = [...besideFile, ...locks, join(config.dataDir, 'rotation.db'), keyFile(config)]
  const reserved = new Set(live.flatMap((path) => [resolve(path), identityOf(path) ?? resolve(path)]))
  for (const target of targets) {
    if (target !== undefined && (reserved.has(resolve(target)) || reserved.has(identityOf(target) ?? '')))
      throw new OperatorError(`${target} belongs to the running instance. Choose another name`)
  }
}

/** A backup writes and removes documents next to it, so it may not share the instance's directory. */
function refuseAmongDocuments(config: Config, target: string): void {
  const documents = realPathOf(documentsDirectory(config))
  for (const path of [target, documentsPathOf(target)]) {
    const real = realPathOf(path)
    if (real === documents || real.startsWith(`${documents}${sep}`) || documents.startsWith(`${real}${sep}`))
      throw new OperatorError(`${path} contains the documents of the running instance. Choose another name`)
  }
}

/** Resolves a missing file by its directory. */
function realPathOf(path: string): string {
  const absolute = resolve(path)
  if (isThere(absolute)) return realpathSync(absolute)
  return dirname(absolute) === absolute ? absolute : join(realPathOf(dirname(absolute)), basename(absolute))
}

const identityOf = (path: string): string | undefined => {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.dev} ${stat.ino}`
}
