/** Making backups: a copy of the database, put with its documents into every place that the settings name. */
import type { DatabaseFile, FileCopy } from '../../../../db/engine.ts'
import type { BackupStore, ListedCopy } from '../../../core/backup-store.ts'
import type { DocumentStore } from '../../../core/documents.ts'
import { AppError, OperatorError } from '../../../core/errors.ts'
import { SealBroken } from '../../../lib/sealed-stream.ts'
import { type Copied, copyFiles, type Looked, type Looking, type NamedFile, nothingCopied } from '../../lending/lending-document/index.ts'
import {
  type Backup,
  backupName,
  databaseOf,
  documentOf,
  documentsFolder,
  isNameOfBackup,
  kept,
  keysOf,
  type Manifest,
  manifestOf,
  nameStart,
  parseManifest,
} from './domain.ts'
import { type BackupDeps, backupsDirectory } from './providers.ts'
import { type BackupPlace, type BackupTarget, chunkOf, holdsSomething, openTarget, textOf } from './targets.ts'

/** What a crash left is removed once it is so old: until then it may be at work elsewhere. */
const settlesMs = 24 * 60 * 60 * 1000
/** Of names in a line of the log. */
const namesTold = 5
/** For a minute those that are ready for a copy wait for the others, so that one is enough. */
const [readyPauses, readyPauseMs] = [600, 100]
/** Between two pauses. */
const pacedBytes = 1024 * 1024

export type MakingDeps = Pick<
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

export type MakingOptions = {
  readonly file: DatabaseFile
  /** Gives whoever is served as much time as is taken. */
  readonly isPaced: boolean
  readonly onBytes?: (bytes: number) => void
  /** Which of the documents that are in a place already are looked at again, and what they belong to. */
  readonly looking: Pick<Looking, 'looksAt' | 'documentOf'>
  /** Told of each place as soon as it is done with. */
  readonly onMade?: (one: Made) => void
}

/** What came of it in a place: its manifest and what a look at its documents told, or what it failed with. */
export type Made = { readonly place: BackupPlace } & (Put | { readonly error: unknown })
type Put = { readonly manifest: Manifest; readonly looked: Looked }

type OpeningDeps = Pick<MakingDeps, 'config' | 'randomBytes' | 'backupTargets' | 'log'>

/**
 * The place, opened once a process, and again where nothing of it is there any more: its disk was taken away, or is another one, and what is put
 * there must open with what is there. @throws OperatorError, AppError UNAVAILABLE
 */
export async function targetOf(deps: OpeningDeps, place: BackupPlace): Promise<BackupTarget> {
  const known = deps.backupTargets.get(place)
  if (known && (await hasItsKey(deps, known))) return known
  const target = await openTarget(place, deps.config.backupPassphrase, { randomBytes: deps.randomBytes, mayCreate: true })
  if (target.isNewBesideOthers)
    deps.log.error('backup.new_key', {
      place: place.store.place,
      advice:
        'BACKUP_PASSPHRASE opens no key that is there: what was put there before cannot be restored with it. See that it is the right one',
    })
  deps.backupTargets.set(place, target)
  return target
}

/** Everything in a sealed place hangs on one file: this process has what it says, and puts it there again where it was altered or taken away. */
async function hasItsKey({ log }: OpeningDeps, { raw, keyFile }: BackupTarget): Promise<boolean> {
  if (!keyFile) return true
  const text = await textOf(raw, keyFile.name)
  if (text === keyFile.text) return true
  if (text === undefined && !(await holdsSomething(raw))) return false
  await raw.put(keyFile.name, chunkOf(keyFile.text))
  log.error('backup.key_mended', { place: raw.place, name: keyFile.name, advice: 'it was altered, or taken away: look at that disk' })
  return true
}

type Prepared = { readonly place: BackupPlace; readonly target: BackupTarget } | { readonly place: BackupPlace; readonly error: unknown }

/**
 * Makes a backup in every place, of one copy. A place that fails, is slow or does not answer holds up no other: those that are not ready in time get a
 * copy of their own. What is begun and not whole has no manifest, and is removed a day later.
 */
export async function makeBackup(deps: MakingDeps, options: MakingOptions): Promise<Made[]> {
  const preparing = deps.backupPlaces.map((place) => prepared(deps, place, options.file))
  const ready: Prepared[] = []
  for (const one of preparing) void one.then((done) => ready.push(done))
  const all = Promise.all(preparing)
  // In short pauses: a command is not to live on for a long one.
  for (let nth = 0; nth < readyPauses && ready.length < preparing.length; nth++) await Promise.race([all, deps.sleep(readyPauseMs)])
  const inTime = [...ready]
  const late = preparing.filter((_, nth) => !inTime.some(({ place }) => place === deps.backupPlaces[nth]))
  const made = await Promise.all([putAll(deps, inTime, options), ...late.map(async (one) => putAll(deps, [await one], options))])
  return made.flat().sort((a, b) => deps.backupPlaces.indexOf(a.place) - deps.backupPlaces.indexOf(b.place))
}

async function prepared(deps: MakingDeps, place: BackupPlace, file: DatabaseFile): Promise<Prepared> {
  try {
    const target = await targetOf(deps, place)
    await makeRoom(deps, target, file)
    // Those of now first: what is replaced while the database is copied would be missing.
    await putDocuments(deps, target, await file.documents())
    return { place, target }
  } catch (error) {
    return { place, error }
  }
}

/** Puts one copy into all places that are ready for it, side by side. */
async function putAll(deps: MakingDeps, ready: readonly Prepared[], options: MakingOptions): Promise<Made[]> {
  const {
    file,
    isPaced,
    onBytes,
    looking: { looksAt, documentOf },
    onMade = () => undefined,
  } = options
  const told = (one: Made): Made => {
    onMade(one)
    return one
  }
  const failed = ready.flatMap((one) => ('error' in one ? [told(one)] : []))
  const targets = ready.flatMap((one) => ('error' in one ? [] : [one]))
  const [first] = targets
  if (!first) return failed
  const at = deps.clock.now()
  const looking: Looking = {
    ...{ looksAt, documentOf, keyring: deps.keyring },
    pace: (chunks) => (isPaced ? paced(deps, chunks) : chunks),
  }
  let copy: FileCopy
  try {
    copy = await file.copy(stagedCopy(deps.config, first.place), onBytes)
  } catch (error) {
    return [...failed, ...targets.map(({ place }) => told({ place, error }))]
  }
  try {
    const puts = targets.map(({ place, target }) =>
      put(deps, target, copy, { at, isPaced, looking }).then(
        (done) => told({ place, ...done }),
        (error: unknown) => told({ place, error }),
      ),
    )
    return [...failed, ...(await Promise.all(puts))]
  } finally {
    copy.drop()
  }
}

/** What the copy is called after that a place is the first to get: of those that are at work at once, each is another one's. */
export const stagedCopy = (config: BackupDeps['config'], { store: { kind } }: BackupPlace): string =>
  `${backupsDirectory(config)}/${kind === 'S3' ? 'copying.db' : 'copying-folder.db'}`

async function put(
  deps: MakingDeps,
  target: BackupTarget,
  copy: FileCopy,
  { at, isPaced, looking }: { at: number; isPaced: boolean; looking: Looking },
): Promise<Put> {
  const { store, isSealed } = target
  const name = backupName(at)
  const { missing, mended, damaged, untold } = await putDocuments(deps, target, copy.documents, looking)
  if (isSealed) await store.put(keysOf(name), chunkOf(deps.keyring.secretsText()))
  const isTaken = await store.adopt?.(databaseOf(name), copy.path)
  const chunks = deps.readFile(copy.path)
  if (!isTaken) await store.put(databaseOf(name), isPaced ? paced(deps, chunks) : chunks, copy.bytes)
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
  await store.put(manifestOf(name), chunkOf(`${JSON.stringify(manifest, null, 1)}\n`))
  await removeOthers(deps, target, manifest).catch((error: unknown) => deps.log.warn('backup.not_tidied', { place: store.place, error }))
  return { manifest, looked: { mended, damaged, untold } }
}

/** Lets whoever is served have as much time as the copying takes. */
async function* paced(
  { clock, sleep }: Pick<MakingDeps, 'clock' | 'sleep'>,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let [bytes, since] = [0, clock.monotonic()]
  for await (const chunk of chunks) {
    yield chunk
    bytes += chunk.length
    if (bytes < pacedBytes) continue
    await sleep(clock.monotonic() - since)
    bytes = 0
    since = clock.monotonic()
  }
}

/** Copies what is not there yet, and what is there and not whole any more. @returns names of those that could not be read */
async function putDocuments(
  { documentStores, log }: MakingDeps,
  { raw }: BackupTarget,
  documents: readonly NamedFile[],
  looking?: Looking,
): Promise<Copied> {
  if (documents.length === 0) return nothingCopied
  const into = documentsOf(raw)
  const copied = await copyFiles(documents, { from: documentStores, to: { of: () => into }, looking })
  const { mended, damaged } = copied
  const { place } = raw
  if (mended.length > 0)
    log.warn('backup.document_mended', {
      place,
      documents: mended.length,
      names: mended.slice(0, namesTold),
      advice: 'what had been put there was altered since: look at that disk',
    })
  if (damaged.length > 0)
    log.error('backup.document_damaged', {
      place,
      documents: damaged.length,
      names: damaged.slice(0, namesTold),
      advice: 'the files of the instance do not open, and what was in the backup is as it was: `souk check` says which they are',
    })
  return copied
}

/** The documents of a place, as a store of documents. */
export const documentsOf = (store: BackupStore): Pick<DocumentStore, 'get' | 'put' | 'delete'> => ({
  get: (name) => store.get(documentOf(name)),
  put: (name, chunks) => store.put(documentOf(name), chunks),
  delete: (name) => store.delete(documentOf(name)),
})

export type Listed = {
  /** Newest first. */
  readonly backups: (Backup & { readonly documents: readonly string[] })[]
  /** Names of those that have a record which cannot be read. */
  readonly unreadable: string[]
  /** Names of those that have a database and no record: being made, broken off, or robbed of it. */
  readonly unrecorded: string[]
}

/** Every backup that is whole, and what else is there that is named as one. */
export async function listBackups(target: BackupTarget): Promise<Listed> {
  const listed: ListedCopy[] = []
  for await (const one of target.raw.list(nameStart)) listed.push(one)
  const namesOf = (partOf: (name: string) => string): string[] =>
    listed.flatMap(({ name: path }) => {
      const name = path.slice(0, path.indexOf('/'))
      return isNameOfBackup(name) && path === partOf(name) ? [name] : []
    })
  const names = namesOf(manifestOf)
  const manifests: Manifest[] = []
  const unreadable: string[] = []
  for (const name of names) {
    const found = await readManifest(target, name).catch(unlessAway)
    if (found) manifests.push(found.manifest)
    else unreadable.push(name)
  }
  const backups = manifests.map(({ name, at, instance, keys, missing, documents, database: { bytes } }) => ({
    ...{ name, at, instance, keys, missing, documents, bytes },
  }))
  const unrecorded = namesOf(databaseOf).filter((name) => !names.includes(name))
  return { backups: backups.sort((a, b) => b.at - a.at), unreadable, unrecorded }
}

/**
 * The record of a backup, and the store that gives it back: those in a folder from before there was a passphrase are not sealed. What is in a
 * bucket always was: whoever may write there and has no passphrase must not make a shop out of what they like. Undefined where there is none
 * of that name.
 * @throws SealBroken, AppError UNAVAILABLE, OperatorError
 */
export async function readManifest(
  { store, raw }: BackupTarget,
  name: string,
): Promise<{ readonly manifest: Manifest; readonly store: BackupStore } | undefined> {
  const path = manifestOf(name)
  const read = async (from: BackupStore) => {
    const text = await textOf(from, path)
    return text === undefined ? undefined : { text, store: from }
  }
  const found = await read(store).catch(async (error: unknown) => {
    const plain = error instanceof SealBroken && raw.kind === 'FOLDER' ? await read(raw) : undefined
    if (!plain?.text.startsWith('{')) throw error
    return plain
  })
  if (!found) return undefined
  const manifest = parseManifest(found.text)
  if (manifest?.name !== name)
    throw new OperatorError(`${path} in ${store.place} is no record of a backup that this souk knows: it is damaged, or of a newer souk`)
  return { manifest, store: found.store }
}

/**
 * Removes what the rule of retention does not keep, then documents that no backup names, then what a crash left. Touches nothing of another
 * instance, nothing that this souk has not made, and no document while there is a backup that cannot be read.
 */
async function removeOthers({ config, clock, log }: MakingDeps, target: BackupTarget, { instance, at }: Manifest): Promise<void> {
  const { backups, unreadable } = await listBackups(target)
  const own = backups.filter((backup) => backup.instance === instance)
  const rule = { daily: config.backupKeepDaily, weekly: config.backupKeepWeekly, monthly: config.backupKeepMonthly }
  // By the time of the one just made: it is never of the future.
  const keeps = kept(own, rule, at)
  const gone = own.filter(({ name }) => !keeps.has(name))
  for (const { name } of gone) await removeBackup(target, name)
  if (gone.length > 0) log.info('backup.removed', { place: target.store.place, backups: gone.map(({ name }) => name) })
  const isOld = ({ at }: ListedCopy) => at < clock.now() - settlesMs
  if (unreadable.length > 0) return
  const names = new Set(backups.filter(({ name }) => !gone.some((one) => one.name === name)).flatMap(({ documents }) => documents))
  for await (const one of target.raw.list(documentsFolder))
    if (isOld(one) && !names.has(one.name.slice(documentsFolder.length))) await target.raw.delete(one.name)
  const whole = new Set(backups.map(({ name }) => name))
  const remains = new Set<string>()
  for await (const one of target.raw.list(nameStart)) {
    const name = one.name.slice(0, one.name.indexOf('/'))
    if (!isNameOfBackup(name) || whole.has(name) || !isOld(one)) continue
    await target.raw.delete(one.name)
    remains.add(name)
  }
  if (remains.size > 0) log.warn('backup.remains_removed', { place: target.store.place, names: [...remains].slice(0, namesTold) })
}

/** A record that nobody can read is passed by; a store that does not answer is not. */
function unlessAway(error: unknown): undefined {
  if (error instanceof AppError) throw error
}

/** The record goes first: what is left of a removal that breaks off is no backup any more. */
async function removeBackup({ raw }: BackupTarget, name: string): Promise<void> {
  for (const path of [manifestOf(name), databaseOf(name), keysOf(name)]) await raw.delete(path)
}

/**
 * Sees that a copy of the database has room, here and in a folder. On the disk of the data, where the operator has named no other place, older
 * backups make room for a new one; the last one never.
 * @throws OperatorError
 */
async function makeRoom(deps: MakingDeps, target: BackupTarget, file: DatabaseFile): Promise<void> {
  const { bytes, logBytes } = file.sizes()
  const needed = bytes + logBytes
  const floor = 2 * deps.config.diskFreeMinBytes
  const hasRoom = () => (deps.diskFree() ?? Number.POSITIVE_INFINITY) - needed >= floor
  if (!target.isNamed && !hasRoom()) {
    const { backups } = await listBackups(target)
    const own = backups.filter(({ instance }) => instance === backups[0]?.instance)
    for (const { name } of own.slice(1).reverse()) {
      if (hasRoom()) break
      await removeBackup(target, name)
      deps.log.warn('backup.thinned', {
        place: target.store.place,
        backup: name,
        advice: 'the disk has no room for more: name another by BACKUP_DIR',
      })
    }
  }
  if (!hasRoom())
    throw new OperatorError(`There is no room for a copy of the database (${needed} bytes) in ${backupsDirectory(deps.config)}`)
  const free = target.isNamed ? await target.raw.free() : undefined
  if (free !== undefined && free < needed)
    throw new OperatorError(`There is no room for a backup (${needed} bytes) in ${target.store.place}`)
}
