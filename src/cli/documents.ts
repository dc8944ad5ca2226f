/** The documents of lending applications, as commands copy them beside a database file. */
import type { Database as Sqlite } from 'bun:sqlite'
import { constants, copyFileSync, linkSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from '../../db/open.ts'
import { syncPath } from '../../db/sqlite/copy.ts'
import type { Config } from '../config.ts'
import {
  type Copied,
  copyFiles,
  createFileStore,
  documentStores,
  documentsDirectory,
  dropOthers,
  type NamedFile,
} from '../modules/lending-document/index.ts'
import { withReader } from './database-file.ts'
import { createProgress } from './progress.ts'

const stream = process.stderr
/** A command says by its result what did not work. */
const port = { log: { warn: () => undefined }, sleep: Bun.sleep }

/** Where the documents lie that belong to a copy of a database. */
export const documentsBeside = (file: string): string => `${file}.documents`

/** The files that a database names; none where it is of a version that knew no documents. */
export const namedFiles = (file: string): NamedFile[] => withReader(file, namedIn)

function namedIn(connection: Sqlite): NamedFile[] {
  const table = connection.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'lending_documents'").get()
  if (!table) return []
  return connection.query<NamedFile, []>('SELECT store, storage_name AS storageName, size FROM lending_documents ORDER BY id').all()
}

/** Copies the documents of a database into the directory beside its copy. @param files that the database names */
export function backUpDocuments(config: Config, target: string, files: readonly NamedFile[]): Promise<Copied> {
  const into = createFileStore(documentsBeside(target))
  return withProgress('Copying documents', files, (onBytes) =>
    copyFiles(files, { from: documentStores(config, port), to: { of: () => into } }, onBytes),
  )
}

/** Removes from a backup what its database does not name: a backup that takes the place of an older one takes its documents over. */
export const dropOtherDocuments = (target: string, files: readonly NamedFile[]): Promise<void> =>
  dropOthers(createFileStore(documentsBeside(target)), new Set(files.map(({ storageName }) => storageName)))

/** Puts the documents of a backup where the settings say. */
export function restoreDocuments(config: Config, source: string, files: readonly NamedFile[]): Promise<Copied> {
  const from = createFileStore(documentsBeside(source))
  return withProgress('Restoring documents', files, (onBytes) =>
    copyFiles(files, { from: { of: () => from }, to: documentStores(config, port) }, onBytes),
  )
}

async function withProgress(label: string, files: readonly NamedFile[], copy: (onBytes: (bytes: number) => void) => Promise<Copied>) {
  const progress = createProgress({ total: files.reduce((sum, { size }) => sum + size, 0), label, stream, unit: 'bytes' })
  return copy((bytes) => progress.at(bytes)).finally(progress.end)
}

/**
 * Gives the files of a database that leaves its place another name beside it: where they were they belong to nobody from then on, and are
 * swept.
 * @param kept the file that the database is kept as
 */
export function keepDocuments(config: Config, kept: string, files: readonly NamedFile[]): void {
  const [from, to] = [documentsDirectory(config), documentsBeside(kept)]
  const there = files.filter(({ store, storageName }) => store === 'FILES' && isThere(join(from, storageName)))
  if (there.length === 0) return
  mkdirSync(to, { mode: 0o700 })
  for (const { storageName } of there) keepAs(join(from, storageName), join(to, storageName))
  syncPath(to)
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
