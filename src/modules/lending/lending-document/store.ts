import { and, asc, eq, gt, inArray } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { countRows } from '../../../../db/page-query.ts'
import { insertOf, rowsOf } from '../../../../db/prepared.ts'
import { lendingApplications, lendingDocuments, registeredStores } from '../../../../db/schema/lending.ts'
import { pictureFiles } from '../../../../db/schema/media.ts'
import { type DocumentStore, isPictureStore } from '../../../core/documents.ts'
import type { LendingApplication, LendingDocument } from '../application/domain.ts'

const byKey = rowsOf(lendingDocuments, ['applicationId', 'key'])
const byStorageName = rowsOf(lendingDocuments, ['storageName'])
const registered = rowsOf(registeredStores, ['kind'])

type Kind = DocumentStore['kind']
/** The result of checking a store. `OTHER`: the database expects another store of this kind. */
export type StoreVerdict = 'OWN' | 'OTHER' | 'SILENT'

export const createLendingDocumentStore = ({ read }: Pick<Database, 'read'>) => ({
  async find(applicationId: string, key: string, from: Pick<Reader, 'first'> = read): Promise<LendingDocument | undefined> {
    return from.first(byKey, { applicationId, key })
  },
  /** At most one document per key. */
  async allOf(applicationId: string): Promise<LendingDocument[]> {
    return read.select().from(lendingDocuments).where(eq(lendingDocuments.applicationId, applicationId))
  },
  findByFile: async (storageName: string): Promise<LendingDocument | undefined> => read.first(byStorageName, { storageName }),
  insert: insertOf(lendingDocuments),
  async remove(tx: Writer, { id }: Pick<LendingDocument, 'id'>): Promise<void> {
    await tx.delete(lendingDocuments).where(eq(lendingDocuments.id, id))
  },
  /** Returns false if the application's version has changed. */
  async setDocumentation(
    tx: Writer,
    { id, version }: Pick<LendingApplication, 'id' | 'version'>,
    fields: Pick<LendingApplication, 'documentationCompleted' | 'updatedAt' | 'version'>,
  ): Promise<boolean> {
    const isThis = and(eq(lendingApplications.id, id), eq(lendingApplications.version, version))
    const rows = await tx.update(lendingApplications).set(fields).where(isThis).returning({ id: lendingApplications.id })
    return rows.length === 1
  },
  /** Returns those of the names that belong to a document, a picture or the mark of a store. */
  async knownFiles(storageNames: readonly string[]): Promise<Set<string>> {
    const names = [...storageNames]
    const [documents, ofPictures, marks] = await Promise.all([
      read.select({ name: lendingDocuments.storageName }).from(lendingDocuments).where(inArray(lendingDocuments.storageName, names)),
      read.select({ name: pictureFiles.storageName }).from(pictureFiles).where(inArray(pictureFiles.storageName, names)),
      read.select({ name: registeredStores.mark }).from(registeredStores).where(inArray(registeredStores.mark, names)),
    ])
    return new Set([...documents, ...ofPictures, ...marks].map(({ name }) => name))
  },
  /** Returns the mark of the registered store; undefined if none was used. */
  markOf: async (kind: Kind): Promise<string | undefined> => (await read.first(registered, { kind }))?.mark,
  /** Does nothing if a store of this kind is registered. */
  register: insertOf(registeredStores, 'leave'),
  /** Returns whether a document or picture is in a store of this kind. */
  async hasAny(kind: Kind): Promise<boolean> {
    const rows = isPictureStore(kind)
      ? await read.select({ id: pictureFiles.hash }).from(pictureFiles).where(eq(pictureFiles.store, kind)).limit(1)
      : await read.select({ id: lendingDocuments.id }).from(lendingDocuments).where(eq(lendingDocuments.store, kind)).limit(1)
    return rows.length > 0
  },
  count: (): Promise<number> => countRows(read, lendingDocuments),
  /** Next page by id. */
  async page(after: string, limit: number): Promise<LendingDocument[]> {
    return read.select().from(lendingDocuments).where(gt(lendingDocuments.id, after)).orderBy(asc(lendingDocuments.id)).limit(limit)
  },
})
