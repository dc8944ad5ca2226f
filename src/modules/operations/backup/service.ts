/** Makes backups: one copy of the database, stored with its documents in every configured place. */
import type { DatabaseFile, FileCopy } from '../../../../db/engine.ts'
import type { BackupStore, ListedCopy } from '../../../core/backup-store.ts'
import type { DocumentStore } from '../../../core/documents.ts'
import { AppError, OperatorError } from '../../../core/errors.ts'
import { SealBroken } from '../../../lib/sealed-stream.ts'
import {
  type CopyResult,
  copyFiles,
  emptyCopyResult,
  type NamedFile,
  type Verification,
  type VerificationResult,
} from '../../lending/lending-document/index.ts'
import {
  type Backup,
  backupName,
  backupNamePrefix,
  databaseOf,
  documentOf,
  documentsFolder,
  isBackupName,
  keysOf,
  type Manifest,
  manifestOf,
  parseManifest,
  retainedBackups,
} from './domain.ts'
import { type BackupDeps, backupsDirectory } from './providers.ts'
import { type BackupPlace, type BackupTarget, hasBackupFiles, openTarget, readText, textChunks } from './targets.ts'

/** The age at which remains of a crash are removed. Younger files may belong to a running backup. */
const remainsAgeMs = 24 * 60 * 60 * 1000
/** Names per log entry. */
const loggedNames = 5
/** Places that are ready wait up to a minute for the others, so that one copy is enough. */
const [readyChecks, readyCheckMs] = [600, 100]
/** Bytes between two pauses. */
const throttleBytes = 1024 * 1024

type MakeBackupDeps = Pick<
  BackupDeps,
  | 'config'
  | 'clock'
  | 'log'
  | 'sleep'
  | 'randomBytes'
  | 'build'
  | 'diskFree'
  | 'documentStores'
  | 'backupPlaces'
  | 'backupTargets'
  | 'readFile'
> & {
  readonly keyring: Pick<BackupDeps['keyring'], 'secretsText' | 'unseal'>
}

type MakeBackupOptions = {
  readonly file: DatabaseFile
  /** Pauses as long as it works, so that requests stay fast. */
  readonly isPaced: boolean
  readonly onBytes?: (bytes: number) => void
  /** Which existing documents are verified, and what they belong to. */
  readonly verification: Pick<Verification, 'isSelected' | 'documentOf'>
  /** Called for each place when it is done. */
  readonly onMade?: (one: BackupResult) => void
}

/** The result per place: the manifest and the verified documents, or an error. */
export type BackupResult = { readonly place: BackupPlace } & (StoredBackup | { readonly error: unknown })
type StoredBackup = { readonly manifest: Manifest; readonly verified: VerificationResult }

type OpenTargetDeps = Pick<MakeBackupDeps, 'config' | 'randomBytes' | 'backupTargets' | 'log'>

/**
 * Opens a place once per process, and again if its files are gone: the disk may have been replaced, and new backups
 * must match the key that is there.
 * @throws OperatorError, AppError UNAVAILABLE
 */
export async function openedTarget(deps: OpenTargetDeps, place: BackupPlace): Promise<BackupTarget> {
  const cached = deps.backupTargets.get(place)
  if (cached && (await ensureKeyFile(deps, cached))) return cached
  const target = await openTarget(place, deps.config.backupPassphrase, { randomBytes: deps.randomBytes, mayCreate: true })
  if (target.isNewBesideOthers)
    deps.log.error('backup.new_key', {
      place: place.store.place,
      advice: "BACKUP_PASSPHRASE doesn't open the keys in this place: earlier backups can't be restored with it. Check the passphrase",
    })
  deps.backupTargets.set(place, target)
  return target
}

/**
 * Restores the key file of a sealed place if it was changed or removed, since everything there depends on it. Returns
 * false if the place is empty.
 */
async function ensureKeyFile({ log }: OpenTargetDeps, { raw, keyFile }: BackupTarget): Promise<boolean> {
  if (!keyFile) return true
  const text = await readText(raw, keyFile.name)
  if (text === keyFile.text) return true
  if (text === undefined && !(await hasBackupFiles(raw))) return false
  await raw.put(keyFile.name, textChunks(keyFile.text))
  log.error('backup.key_mended', { place: raw.place, name: keyFile.name, advice: 'The file was changed or deleted. Check the disk' })
  return true
}

type PreparedPlace =
  | { readonly place: BackupPlace; readonly target: BackupTarget }
  | { readonly place: BackupPlace; readonly error: unknown }

/**
 * Makes a backup in every place from one copy. A slow or failing place does not delay the others: places that are not
 * ready in time get a copy of their own.
 * An incomplete backup has no manifest and is removed a day later.
 */
export async function makeBackup(deps: MakeBackupDeps, options: MakeBackupOptions): Promise<BackupResult[]> {
  const preparations = deps.backupPlaces.map((place) => preparePlace(deps, place, options.file))
  const ready: PreparedPlace[] = []
  for (const preparation of preparations) void preparation.then((prepared) => ready.push(prepared))
  const allReady = Promise.all(preparations)
  // Short pauses, so that a command ends soon.
  for (let nth = 0; nth < readyChecks && ready.length < preparations.length; nth++) await Promise.race([allReady, deps.sleep(readyCheckMs)])
  const inTime = [...ready]
  const late = preparations.filter((_, nth) => !inTime.some(({ place }) => place === deps.backupPlaces[nth]))
  const results = await Promise.all([
    storeInPlaces(deps, inTime, options),
    ...late.map(async (one) => storeInPlaces(deps, [await one], options)),
  ])
  return results.flat().sort((a, b) => deps.backupPlaces.indexOf(a.place) - deps.backupPlaces.indexOf(b.place))
}

async function preparePlace(deps: MakeBackupDeps, place: BackupPlace, file: DatabaseFile): Promise<PreparedPlace> {
  try {
    const target = await openedTarget(deps, place)
    await ensureSpace(deps, target, file)
    // Copies current documents before the database, since those replaced meanwhile would be missing.
    await copyDocuments(deps, target, await file.documents())
    return { place, target }
  } catch (error) {
    return { place, error }
  }
}

/** Stores one copy in all places that are ready, in parallel. */
async function storeInPlaces(deps: MakeBackupDeps, ready: readonly PreparedPlace[], options: MakeBackupOptions): Promise<BackupResult[]> {
  const {
    file,
    isPaced,
    onBytes,
    verification: { isSelected, documentOf },
    onMade = () => undefined,
  } = options
  const report = (result: BackupResult): BackupResult => {
    onMade(result)
    return result
  }
  const failed = ready.flatMap((one) => ('error' in one ? [report(one)] : []))
  const targets = ready.flatMap((one) => ('error' in one ? [] : [one]))
  const [first] = targets
  if (!first) return failed
  const at = deps.clock.now()
  const verification: Verification = {
    ...{ isSelected, documentOf, keyring: deps.keyring },
    pace: (chunks) => (isPaced ? throttled(deps, chunks) : chunks),
  }
  let copy: FileCopy
  try {
    copy = await file.copy(stagedCopy(deps.config, first.place), onBytes)
  } catch (error) {
    return [...failed, ...targets.map(({ place }) => report({ place, error }))]
  }
  try {
    const puts = targets.map(({ place, target }) =>
      storeBackup(deps, target, copy, { at, isPaced, verification }).then(
        (stored) => report({ place, ...stored }),
        (error: unknown) => report({ place, error }),
      ),
    )
    return [...failed, ...(await Promise.all(puts))]
  } finally {
    copy.drop()
  }
}

/** Returns the temporary file of a copy. Concurrent copies differ by the kind of their first backup store. */
export const stagedCopy = (config: BackupDeps['config'], { store: { kind } }: BackupPlace): string =>
  `${backupsDirectory(config)}/${kind === 'S3' ? 'copying.db' : 'copying-folder.db'}`

async function storeBackup(
  deps: MakeBackupDeps,
  target: BackupTarget,
  copy: FileCopy,
  { at, isPaced, verification }: { at: number; isPaced: boolean; verification: Verification },
): Promise<StoredBackup> {
  const { store, isSealed } = target
  const name = backupName(at)
  const { missing, repaired, damaged, unverifiable } = await copyDocuments(deps, target, copy.documents, verification)
  if (isSealed) await store.put(keysOf(name), textChunks(deps.keyring.secretsText()))
  const isAdopted = await store.adopt?.(databaseOf(name), copy.path)
  const chunks = deps.readFile(copy.path)
  if (!isAdopted) await store.put(databaseOf(name), isPaced ? throttled(deps, chunks) : chunks, copy.bytes)
  const manifest: Manifest = {
    format: 'souk backup',
    version: 1,
    name,
    at,
    souk: deps.build.version,
    instance: copy.instance,
    database: { bytes: copy.bytes, sha256: copy.sha256, rows: copy.rows, migrations: copy.migrations },
    keys: copy.keys,
    withKeys: isSealed,
    documents: copy.documents.map(({ storageName }) => storageName),
    missing,
  }
  await store.put(manifestOf(name), textChunks(`${JSON.stringify(manifest, null, 1)}\n`))
  await applyRetention(deps, target, manifest).catch((error: unknown) => deps.log.warn('backup.not_tidied', { place: store.place, error }))
  return { manifest, verified: { repaired, damaged, unverifiable } }
}

/** Pauses as long as the copy works, so that requests stay fast. */
async function* throttled(
  { clock, sleep }: Pick<MakeBackupDeps, 'clock' | 'sleep'>,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let [bytes, since] = [0, clock.monotonic()]
  for await (const chunk of chunks) {
    yield chunk
    bytes += chunk.length
    if (bytes < throttleBytes) continue
    await sleep(clock.monotonic() - since)
    bytes = 0
    since = clock.monotonic()
  }
}

/**
 * Copies documents that are missing or incomplete in the place.
 * @returns also the names of those that could not be read
 */
async function copyDocuments(
  { documentStores, log }: MakeBackupDeps,
  { raw }: BackupTarget,
  documents: readonly NamedFile[],
  verification?: Verification,
): Promise<CopyResult> {
  if (documents.length === 0) return emptyCopyResult
  const into = documentsOf(raw)
  const result = await copyFiles(documents, { from: documentStores, to: { of: () => into }, verification })
  const { repaired, damaged } = result
  const { place } = raw
  if (repaired.length > 0)
    log.warn('backup.document_mended', {
      place,
      documents: repaired.length,
      names: repaired.slice(0, loggedNames),
      advice: 'The stored copy was changed. Check the disk',
    })
  if (damaged.length > 0)
    log.error('backup.document_damaged', {
      place,
      documents: damaged.length,
      names: damaged.slice(0, loggedNames),
      advice: 'Files of the instance are unreadable. The copies in the backup were kept. Run `souk check` for details',
    })
  return result
}

/** Returns the documents of a backup store as a document store. */
export const documentsOf = (store: BackupStore): Pick<DocumentStore, 'get' | 'put' | 'delete'> => ({
  get: (name) => store.get(documentOf(name)),
  put: (name, chunks) => store.put(documentOf(name), chunks),
  delete: (name) => store.delete(documentOf(name)),
})

type BackupList = {
  /** Newest first. */
  readonly backups: (Backup & { readonly documents: readonly string[] })[]
  /** Names of backups whose manifest cannot be read. */
  readonly unreadable: string[]
  /** Names of backups with a database but no manifest: running, aborted, or without their manifest. */
  readonly unrecorded: string[]
}

/** Lists the backups of a place, complete or not. */
export async function listBackups(target: BackupTarget): Promise<BackupList> {
  const files: ListedCopy[] = []
  for await (const file of target.raw.list(backupNamePrefix)) files.push(file)
  const namesOf = (partOf: (name: string) => string): string[] =>
    files.flatMap(({ name: path }) => {
      const name = path.slice(0, path.indexOf('/'))
      return isBackupName(name) && path === partOf(name) ? [name] : []
    })
  const names = namesOf(manifestOf)
  const manifests: Manifest[] = []
  const unreadable: string[] = []
  for (const name of names) {
    const record = await readManifest(target, name).catch(ignoreUnreadable)
    if (record) manifests.push(record.manifest)
    else unreadable.push(name)
  }
  const backups = manifests.map(({ name, at, instance, keys, missing, documents, database: { bytes } }) => ({
    ...{ name, at, instance, keys, missing, documents, bytes },
  }))
  const unrecorded = namesOf(databaseOf).filter((name) => !names.includes(name))
  return { backups: backups.sort((a, b) => b.at - a.at), unreadable, unrecorded }
}

/**
 * Reads a manifest and the store that opens it. Backups in a folder from before there was a passphrase are not sealed.
 * In a bucket an unsealed backup is refused: anyone with write access could otherwise forge one.
 * @returns undefined if there is none of that name
 * @throws SealBroken, AppError UNAVAILABLE, OperatorError
 */
export async function readManifest(
  { store, raw }: BackupTarget,
  name: string,
): Promise<{ readonly manifest: Manifest; readonly store: BackupStore } | undefined> {
  const path = manifestOf(name)
  const read = async (from: BackupStore) => {
    const text = await readText(from, path)
    return text === undefined ? undefined : { text, store: from }
  }
  const record = await read(store).catch(async (error: unknown) => {
    const plain = error instanceof SealBroken && raw.kind === 'FOLDER' ? await read(raw) : undefined
    if (!plain?.text.startsWith('{')) throw error
    return plain
  })
  if (!record) return undefined
  const manifest = parseManifest(record.text)
  if (manifest?.name !== name) throw new OperatorError(`${path} in ${store.place} is damaged, or was written by a newer version`)
  return { manifest, store: record.store }
}

/**
 * Removes backups that the retention rule does not keep, then unreferenced documents, then remains of crashes.
 * Leaves other instances and unknown files alone, and every document while a manifest is unreadable.
 */
async function applyRetention({ config, clock, log }: MakeBackupDeps, target: BackupTarget, { instance, at }: Manifest): Promise<void> {
  const { backups, unreadable } = await listBackups(target)
  const ownBackups = backups.filter((backup) => backup.instance === instance)
  const rule = { daily: config.backupKeepDaily, weekly: config.backupKeepWeekly, monthly: config.backupKeepMonthly }
  // The time of the new backup is never in the future.
  const retained = retainedBackups(ownBackups, rule, at)
  const removed = ownBackups.filter(({ name }) => !retained.has(name))
  for (const { name } of removed) await removeBackup(target, name)
  if (removed.length > 0) log.info('backup.removed', { place: target.store.place, backups: removed.map(({ name }) => name) })
  const isOld = ({ at }: ListedCopy) => at < clock.now() - remainsAgeMs
  if (unreadable.length > 0) return
  const names = new Set(backups.filter(({ name }) => !removed.some((one) => one.name === name)).flatMap(({ documents }) => documents))
  for await (const one of target.raw.list(documentsFolder))
    if (isOld(one) && !names.has(one.name.slice(documentsFolder.length))) await target.raw.delete(one.name)
  const completeNames = new Set(backups.map(({ name }) => name))
  const remains = new Set<string>()
  for await (const one of target.raw.list(backupNamePrefix)) {
    const name = one.name.slice(0, one.name.indexOf('/'))
    if (!isBackupName(name) || completeNames.has(name) || !isOld(one)) continue
    await target.raw.delete(one.name)
    remains.add(name)
  }
  if (remains.size > 0) log.warn('backup.remains_removed', { place: target.store.place, names: [...remains].slice(0, loggedNames) })
}

/** Ignores an unreadable manifest, but not a store that does not respond. */
function ignoreUnreadable(error: unknown): undefined {
  if (error instanceof AppError) throw error
}

/** Removes the manifest first, so that an aborted removal leaves no backup. */
async function removeBackup({ raw }: BackupTarget, name: string): Promise<void> {
  for (const path of [manifestOf(name), databaseOf(name), keysOf(name)]) await raw.delete(path)
}

/**
 * Ensures space for a copy of the database, on the local disk and in a folder. In the default place, older backups are
 * removed for a new one, except the last.
 * @throws OperatorError
 */
async function ensureSpace(deps: MakeBackupDeps, target: BackupTarget, file: DatabaseFile): Promise<void> {
  const { bytes, logBytes } = file.sizes()
  const needed = bytes + logBytes
  const floor = 2 * deps.config.diskFreeMinBytes
  const hasRoom = () => (deps.diskFree() ?? Number.POSITIVE_INFINITY) - needed >= floor
  if (!target.isNamed && !hasRoom()) {
    const { backups } = await listBackups(target)
    const ownBackups = backups.filter(({ instance }) => instance === backups[0]?.instance)
    for (const { name } of ownBackups.slice(1).reverse()) {
      if (hasRoom()) break
      await removeBackup(target, name)
      deps.log.warn('backup.thinned', {
        place: target.store.place,
        backup: name,
        advice: 'The disk is full. Set BACKUP_DIR to another disk',
      })
    }
  }
  if (!hasRoom())
    throw new OperatorError(`Not enough disk space for a copy of the database (${needed} bytes) in ${backupsDirectory(deps.config)}`)
  const free = target.isNamed ? await target.raw.free() : undefined
  if (free !== undefined && free < needed)
    throw new OperatorError(`Not enough disk space for a backup (${needed} bytes) in ${target.store.place}`)
}
