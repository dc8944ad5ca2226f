/** Copies lending documents and pictures next to a database file. */
import { Database as Sqlite } from 'bun:sqlite'
import { constants, copyFileSync, linkSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from '../../db/open.ts'
import { makeDirectory, syncPath } from '../../db/sqlite/copy.ts'
import { documentsIn, pictureFileIn, sealedDocumentIn } from '../../db/sqlite/copy-manifest.ts'
import type { Config } from '../config.ts'
import { isPictureStore } from '../core/documents.ts'
import { OperatorError } from '../core/errors.ts'
import { createKeyring } from '../keys.ts'
import {
  type CopyResult,
  copyFiles,
  createFileStore,
  documentStores,
  documentsDirectory,
  emptyCopyResult,
  isStoreUnavailable,
  type NamedFile,
  picturesDirectory,
  removeOtherFiles,
  type Verification,
  type VerificationResult,
} from '../modules/lending/lending-document/index.ts'
import { countText } from './count-text.ts'
import { withReader } from './database-file.ts'
import { createProgress } from './progress.ts'

const stream = process.stderr
/** Commands report failures by their result. */
const port = { log: { warn: () => undefined }, sleep: Bun.sleep }

/** Returns the documents directory of a database copy. */
export const documentsPathOf = (file: string): string => `${file}.files`

/**
 * Returns the documents directory of an existing backup; older ones are called FILE.documents instead of FILE.files.
 */
export function backupDocumentsPathOf(file: string): string {
  const former = `${file}.documents`
  return !isThere(documentsPathOf(file)) && isThere(former) ? former : documentsPathOf(file)
}

/** Restores the documents of a backup. */
export type DocumentSource = Pick<ReturnType<typeof createFileStore>, 'get'>

/** Returns the files that a database names; none if its version had no documents. */
export const namedFiles = (file: string): NamedFile[] => withReader(file, documentsIn)

/**
 * Makes a database copy look for its documents where they can be stored: those of a bucket that is not configured move
 * to the data directory if the backup has them.
 * @param copy a file that nobody else has open
 */
export async function adjustStores(config: Config, source: DocumentSource, copy: string): Promise<void> {
  const stores = documentStores(config, port)
  const names: string[] = []
  for (const { store, storageName } of namedFiles(copy))
    if ((store === 'S3' || store === 'MEDIA_S3') && !stores.of(store) && (await source.get(storageName))) names.push(storageName)
  if (names.length === 0) return
  using connection = new Sqlite(copy)
  // Keeps no log: the file alone is published.
  connection.run('PRAGMA journal_mode = DELETE')
  const tables = [
    ['lending_documents', 'FILES'],
    ['picture_files', 'MEDIA_FILES'],
  ].filter(([table = '']) => connection.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table))
  const updates = tables.map(([table, store]) => connection.query(`UPDATE ${table} SET store = '${store}' WHERE storage_name = ?`))
  connection.transaction(() => {
    for (const name of names) for (const move of updates) move.run(name)
  })()
}

/**
 * Copies documents and pictures from the data directory into the configured buckets.
 * @param files in the data directory
 * @returns the result for files that have a bucket, and these files
 */
export async function moveDocumentsToBuckets(
  config: Config,
  files: readonly NamedFile[],
): Promise<{ copied: CopyResult; going: readonly NamedFile[] }> {
  const stores = documentStores(config, port)
  const targetOf = (kind: NamedFile['store']) => stores.of(isPictureStore(kind) ? 'MEDIA_S3' : 'S3')
  const going = files.filter(({ store }) => targetOf(store) !== undefined)
  if (going.length === 0) return { copied: emptyCopyResult, going }
  const copied = await withProgress('Copying documents and images', going, (onBytes) =>
    copyFiles(going, { from: stores, to: { of: targetOf } }, onBytes),
  )
  return { copied, going }
}

/** Returns how a command verifies documents that a backup already has, with the configured keys if there are any. */
export function fullVerification(config: Config, file: string): Verification {
  const keyring = keyringOf(config)
  const unseal: Verification['keyring']['unseal'] = (sealed, about) => {
    if (keyring instanceof OperatorError) throw keyring
    return keyring.unseal(sealed, about)
  }
  return {
    isSelected: () => true,
    documentOf: (name) => withReader(file, (connection) => documentsTable(connection, name) ?? pictureFileIn(connection, name)),
    keyring: { unseal },
  }
}

const documentsTable = (connection: Sqlite, name: string) =>
  connection.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'lending_documents'").get()
    ? sealedDocumentIn(connection, name)
    : undefined

/** Used if the keys are missing. */
function keyringOf(config: Config) {
  try {
    return createKeyring(config, false)
  } catch (error) {
    if (error instanceof OperatorError) return error
    throw error
  }
}

/**
 * Prints the result of a verification.
 * @returns whether all documents are intact
 */
export function printVerification({ repaired, damaged, unverifiable }: VerificationResult): boolean {
  const print = ({ length }: readonly string[], text: string) => {
    if (length > 0) stream.write(`${countText(length, 'file')} ${text}\n`)
  }
  print(repaired, 'changed in the backup and copied again. Check the disk of the backup.')
  print(damaged, 'unreadable in this instance; the copy in the backup was kept. Run `souk check` for details.')
  print(unverifiable, 'not verified: the key or the bucket is not available.')
  return damaged.length === 0
}

/**
 * Copies the documents of a database next to its copy.
 * @param files that the database names
 * @param verification for documents that are already present
 */
export function backUpDocuments(
  config: Config,
  target: string,
  files: readonly NamedFile[],
  verification?: Verification,
): Promise<CopyResult> {
  const into = createFileStore(documentsPathOf(target))
  return withProgress('Copying documents and images', files, (onBytes) =>
    copyFiles(files, { from: documentStores(config, port), to: { of: () => into }, verification }, onBytes),
  )
}

/** Removes documents that the database does not name, as after replacing an older backup. */
export const removeUnnamedDocuments = (target: string, files: readonly NamedFile[]): Promise<void> =>
  removeOtherFiles(createFileStore(documentsPathOf(target)), new Set(files.map(({ storageName }) => storageName)))

/**
 * Restores the documents of a backup into the configured stores. Differing files are replaced.
 * @param replacedFile the file of the replaced database: replaced documents stay next to it
 */
export function restoreDocuments(
  config: Config,
  source: DocumentSource,
  replacedFile: string,
  files: readonly NamedFile[],
): Promise<CopyResult> {
  const plan = { from: { of: () => source }, to: documentStores(config, port), replacedTo: createFileStore(documentsPathOf(replacedFile)) }
  return withProgress('Restoring documents and images', files, (onBytes) => copyFiles(files, plan, onBytes))
}

/**
 * Marks the configured stores as those of a database, after its documents were copied. An unavailable store
 * stays unmarked, and the next start reports it.
 */
export async function adoptStores(config: Config, file: string): Promise<void> {
  async function* emptyStream(): AsyncGenerator<Uint8Array> {}
  const stores = documentStores(config, port)
  for (const { kind, mark } of withReader(file, readMarks)) {
    const store = stores.of(kind)
    const isMarked = async () => !store || (await store.get(mark)) !== undefined
    await isMarked()
      .then((has) => (has ? undefined : store?.put(mark, emptyStream())))
      .catch((error: unknown) => (isStoreUnavailable(error) ? undefined : Promise.reject(error)))
  }
}

type StoreMark = { readonly kind: NamedFile['store']; readonly mark: string }

function readMarks(connection: Sqlite): StoreMark[] {
  const table = connection.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'document_stores'").get()
  return table ? connection.query<StoreMark, []>('SELECT kind, mark FROM document_stores').all() : []
}

async function withProgress(label: string, files: readonly NamedFile[], copy: (onBytes: (bytes: number) => void) => Promise<CopyResult>) {
  const progress = createProgress({ total: files.reduce((sum, { size }) => sum + size, 0), label, stream, unit: 'bytes' })
  return copy((bytes) => progress.at(bytes)).finally(progress.end)
}

/**
 * Keeps the documents of a replaced database next to it, since a sweep would remove them. Files in the data directory
 * are renamed. Files in buckets are copied unless the backup names them.
 * @param replacedFile the file of the replaced database
 * @returns how many could not be copied
 */
export async function keepDocuments(
  config: Config,
  replacedFile: string,
  files: readonly NamedFile[],
  restored: readonly NamedFile[],
): Promise<number> {
  const to = documentsPathOf(replacedFile)
  const folders = { FILES: documentsDirectory(config), MEDIA_FILES: picturesDirectory(config) }
  const present = files.flatMap(({ store, storageName: name }) => {
    const path = store === 'FILES' || store === 'MEDIA_FILES' ? join(folders[store], name) : undefined
    return path !== undefined && isThere(path) ? [{ name, path }] : []
  })
  if (present.length > 0) {
    makeDirectory(to)
    for (const { name, path } of present) linkOrCopy(path, join(to, name))
    syncPath(to)
  }
  const restoredNames = new Set(restored.map(({ storageName }) => storageName))
  const toSave = files.filter(({ store, storageName }) => (store === 'S3' || store === 'MEDIA_S3') && !restoredNames.has(storageName))
  if (toSave.length === 0) return 0
  const into = createFileStore(to)
  const { missing } = await withProgress('Saving documents', toSave, (onBytes) =>
    copyFiles(toSave, { from: documentStores(config, port), to: { of: () => into } }, onBytes),
  )
  return missing.length
}

/** Gives a file a second name. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    // Another file system, or one without links.
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    syncPath(to)
  }
}
