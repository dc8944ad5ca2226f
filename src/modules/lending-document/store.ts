import { and, asc, count, eq, gt, inArray } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../db/engine.ts'
import { insertOf, rowsOf } from '../../../db/prepared.ts'
import { lendingApplications, lendingDocuments, lendingEvents } from '../../../db/schema/lending.ts'
import type { Application, LendingDocument, LendingEvent } from './domain.ts'

const applicationById = rowsOf(lendingApplications, ['id'])
const one = rowsOf(lendingDocuments, ['applicationId', 'key'])
const insert = insertOf(lendingDocuments)
const insertEvent = insertOf(lendingEvents)

export const createLendingDocumentStore = ({ read }: Pick<Database, 'read'>) => ({
  async application(id: string, from: Pick<Reader, 'first'> = read): Promise<Application | undefined> {
    return from.first(applicationById, { id })
  },
  async find(applicationId: string, key: string, from: Pick<Reader, 'first'> = read): Promise<LendingDocument | undefined> {
    return from.first(one, { applicationId, key })
  },
  async insert(tx: Writer, document: LendingDocument): Promise<void> {
    await insert(tx, document)
  },
  async remove(tx: Writer, { id }: Pick<LendingDocument, 'id'>): Promise<void> {
    await tx.delete(lendingDocuments).where(eq(lendingDocuments.id, id))
  },
  /** Whether the application was still of the version that was read. */
  async noteOn(
    tx: Writer,
    { id, version }: Pick<Application, 'id' | 'version'>,
    fields: Pick<Application, 'documentationCompleted' | 'updatedAt' | 'version'>,
  ): Promise<boolean> {
    const isThis = and(eq(lendingApplications.id, id), eq(lendingApplications.version, version))
    const rows = await tx.update(lendingApplications).set(fields).where(isThis).returning({ id: lendingApplications.id })
    return rows.length === 1
  },
  async insertEvent(tx: Writer, event: LendingEvent): Promise<void> {
    await insertEvent(tx, event)
  },
  /** Of these names of files, those that a document has. */
  async known(storageNames: readonly string[]): Promise<Set<string>> {
    const rows = await read
      .select({ name: lendingDocuments.storageName })
      .from(lendingDocuments)
      .where(inArray(lendingDocuments.storageName, [...storageNames]))
    return new Set(rows.map(({ name }) => name))
  },
  async count(): Promise<number> {
    const [row] = await read.select({ n: count() }).from(lendingDocuments)
    return Number(row?.n ?? 0)
  },
  /** The next ones by their id. */
  async page(after: string, limit: number): Promise<LendingDocument[]> {
    return read.select().from(lendingDocuments).where(gt(lendingDocuments.id, after)).orderBy(asc(lendingDocuments.id)).limit(limit)
  },
})
