/** The documents of lending applications and the pictures of shops, as commands copy them beside a database file. */
import { Database as Sqlite } from 'bun:sqlite'
import { constants, copyFileSync, linkSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from '../../db/open.ts'
import { makeDirectory, syncPath } from '../../db/sqlite/copy.ts'
import { documentsIn, pictureFileIn, sealedDocumentIn } from '../../db/sqlite/copy-manifest.ts'
import type { Config } from '../config.ts'
import { isOfPictures } from '../core/documents.ts'
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
import { withReader } from './database-file.ts'
import { createProgress } from './progress.ts'

const stream = process.stderr
/** A command says by its result what did not work. */
const port = { log: { warn: () => undefined }, sleep: Bun.sleep }

/** Where the documents lie that belong to a copy of a database. */
export const documentsBeside = (file: string): string => `${file}.files`

/** Where a backup that is there has its documents: it was called FILE.documents before it was FILE.files. */
export function documentsOfBackup(file: string): string {
  const former = `${file}.documents`
  return !isThere(documentsBeside(file)) && isThere(former) ? former : documentsBeside(file)
}

/** What gives back the documents of a backup. */
export type DocumentSource = Pick<ReturnType<typeof createFileStore>, 'get'>

/** The files that a database names; none where it is of a version that knew no documents. */
export const namedFiles = (file: string): NamedFile[] => withReader(file, documentsIn)

/**
 * Lets a copy of a database that is about to take its place look for its documents where they can be put: those that were in a bucket which
 * the settings do not name, in the data directory, as far as the backup has them.
 * @param copy a file that nobody else has open
 */
export async function rehouse(config: Config, source: DocumentSource, copy: string): Promise<void> {
  const stores = documentStores(config, port)
  const names: string[] = []
  for (const { store, storageName } of namedFiles(copy))
    if ((store === 'S3' || store === 'MEDIA_S3') && !stores.of(store) && (await source.get(storageName))) names.push(storageName)
  if (names.length === 0) return
  using connection = new Sqlite(copy)
  // No log beside it: the file alone takes the place.
  connection.run('PRAGMA journal_mode = DELETE')
  const tables = [
    ['lending_documents', 'FILES'],
    ['picture_files', 'MEDIA_FILES'],
  ].filter(([table = '']) => connection.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table))
  const moves = tables.map(([table, store]) => connection.query(`UPDATE ${table} SET store = '${store}' WHERE storage_name = ?`))
  connection.transaction(() => {
    for (const name of names) for (const move of moves) move.run(name)
  })()
}

/**
 * Copies documents and pictures of the data directory into the buckets of the settings, where there are some.
 * @param files that lie in the data directory
 * @returns what came of those that have a bucket to go to, and which these are
 */
export async function documentsIntoBucket(
  config: Config,
  files: readonly NamedFile[],
): Promise<{ copied: CopyResult; going: readonly NamedFile[] }> {
  const stores = documentStores(config, port)
  const into = (kind: NamedFile['store']) => stores.of(isOfPictures(kind) ? 'MEDIA_S3' : 'S3')
  const going = files.filter(({ store }) => into(store) !== undefined)
  if (going.length === 0) return { copied: emptyCopyResult, going }
  const copied = await withProgress('Copying documents and pictures', going, (onBytes) =>
    copyFiles(going, { from: stores, to: { of: into } }, onBytes),
  )
  return { copied, going }
}

/**
 * How a command looks again at every document that a backup has already: those of a database that may be in use, under the keys of the settings,
 * which need not be there.
 */
export function lookingAtAll(config: Config, file: string): Verification {
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

/** What it says where they are not at hand. */
function keyringOf(config: Config) {
  try {
    return createKeyring(config, false)
  } catch (error) {
    if (error instanceof OperatorError) return error
    throw error
  }
}

/** What a look at the documents of a backup told, for people. @returns whether all of them are what they should be */
export function tellLooked({ repaired, damaged, unverifiable }: VerificationResult): boolean {
  const tell = ({ length }: readonly string[], text: string) => {
    if (length > 0) stream.write(`${length === 1 ? 'A document' : `${length} documents`} ${text}\n`)
  }
  tell(repaired, 'had been altered in the backup: put there anew. Look at its disk.')
  tell(damaged, 'cannot be opened in this instance, and what the backup had was left as it was: `souk check` tells more.')
  tell(unverifiable, 'could not be looked at again: the key, or the bucket, is not at hand.')
  return damaged.length === 0
}

/**
 * Copies the documents of a database into the directory beside its copy.
 * @param files that the database names
 * @param looking how those that are there are looked at again
 */
export function backUpDocuments(config: Config, target: string, files: readonly NamedFile[], looking?: Verification): Promise<CopyResult> {
  const into = createFileStore(documentsBeside(target))
  return withProgress('Copying documents', files, (onBytes) =>
    copyFiles(files, { from: documentStores(config, port), to: { of: () => into }, verification: looking }, onBytes),
  )
}

/** Removes from a backup what its database does not name: a backup that takes the place of an older one takes its documents over. */
export const dropOtherDocuments = (target: string, files: readonly NamedFile[]): Promise<void> =>
  removeOtherFiles(createFileStore(documentsBeside(target)), new Set(files.map(({ storageName }) => storageName)))

/**
 * Puts the documents of a backup where the settings say. What is there under their names and is not the same is replaced: a disk may have
 * altered it.
 * @param kept the file that the present database is kept as: what is replaced stays beside it
 */
export function restoreDocuments(config: Config, source: DocumentSource, kept: string, files: readonly NamedFile[]): Promise<CopyResult> {
  const plan = { from: { of: () => source }, to: documentStores(config, port), replacedTo: createFileStore(documentsBeside(kept)) }
  return withProgress('Restoring documents', files, (onBytes) => copyFiles(files, plan, onBytes))
}

/**
 * Lets the stores of the settings be those that a database knows, once its documents are in them. One that does not answer stays another
 * one, and the next start says so.
 */
export async function markStores(config: Config, file: string): Promise<void> {
  async function* nothing(): AsyncGenerator<Uint8Array> {}
  const stores = documentStores(config, port)
  for (const { kind, mark } of withReader(file, marksIn)) {
    const store = stores.of(kind)
    const isMarked = async () => !store || (await store.get(mark)) !== undefined
    await isMarked()
      .then((has) => (has ? undefined : store?.put(mark, nothing())))
      .catch((error: unknown) => (isStoreUnavailable(error) ? undefined : Promise.reject(error)))
  }
}

type Marked = { readonly kind: NamedFile['store']; readonly mark: string }

function marksIn(connection: Sqlite): Marked[] {
  const table = connection.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'document_stores'").get()
  return table ? connection.query<Marked, []>('SELECT kind, mark FROM document_stores').all() : []
}

async function withProgress(label: string, files: readonly NamedFile[], copy: (onBytes: (bytes: number) => void) => Promise<CopyResult>) {
  const progress = createProgress({ total: files.reduce((sum, { size }) => sum + size, 0), label, stream, unit: 'bytes' })
  return copy((bytes) => progress.at(bytes)).finally(progress.end)
}

/**
 * Keeps the files of a database that leaves its place beside it: where they were they belong to nobody from then on, and are swept. Those
 * in the data directory get another name there; of those in a bucket, what the backup names stays where it is, and the others are copied.
 * @param kept the file that the database is kept as
 * @returns how many could not be copied
 */
export async function keepDocuments(
  config: Config,
  kept: string,
  files: readonly NamedFile[],
  restored: readonly NamedFile[],
): Promise<number> {
  const to = documentsBeside(kept)
  const folders = { FILES: documentsDirectory(config), MEDIA_FILES: picturesDirectory(config) }
  const there = files.flatMap(({ store, storageName: name }) => {
    const path = store === 'FILES' || store === 'MEDIA_FILES' ? join(folders[store], name) : undefined
    return path !== undefined && isThere(path) ? [{ name, path }] : []
  })
  if (there.length > 0) {
    makeDirectory(to)
    for (const { name, path } of there) keepAs(path, join(to, name))
    syncPath(to)
  }
  const stays = new Set(restored.map(({ storageName }) => storageName))
  const leave = files.filter(({ store, storageName }) => (store === 'S3' || store === 'MEDIA_S3') && !stays.has(storageName))
  if (leave.length === 0) return 0
  const into = createFileStore(to)
  const { missing } = await withProgress('Keeping documents', leave, (onBytes) =>
    copyFiles(leave, { from: documentStores(config, port), to: { of: () => into } }, onBytes),
  )
  return missing.length
}

/** Gives a file a second name. */
export function keepAs(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    // Another file system, or one without links.
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    syncPath(to)
  }
}
