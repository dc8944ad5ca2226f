import { type DocumentStore, documentSettlesMs, type ListedDocument, storeKinds } from '../../../core/documents.ts'
import type { LendingDocument } from '../application/domain.ts'
import { contentOf } from './content.ts'
import { isSilent } from './copy-documents.ts'
import type { LendingDocumentDeps } from './providers.ts'
import { otherThan } from './register-document.ts'
import { fileOf } from './service.ts'

const pageRows = 200
const lookUpAtOnce = 200

type KeepingDeps = Pick<LendingDocumentDeps, 'lendingDocumentStore' | 'documentStores' | 'clock'>

/** Every store that the settings know. */
const storesOf = ({ documentStores }: KeepingDeps): DocumentStore[] => storeKinds.flatMap((kind) => documentStores.of(kind) ?? [])

/**
 * Files that belong to no document and no picture: of an upload that ended with its process, or of a document that was replaced or removed just before it did.
 * None that is younger than a day, which may belong to an upload that is under way.
 */
export async function* orphanedFiles(deps: KeepingDeps): AsyncGenerator<{ store: DocumentStore; file: ListedDocument }> {
  const before = deps.clock.now() - documentSettlesMs
  for (const store of storesOf(deps)) {
    // What is in a store that is not this database's may belong to another one.
    if ((await otherThan(deps, store)) !== undefined) continue
    let batch: ListedDocument[] = []
    for await (const file of store.list()) {
      if (!(file.at <= before)) continue
      batch.push(file)
      if (batch.length < lookUpAtOnce) continue
      yield* withoutRow(deps, store, batch)
      batch = []
    }
    yield* withoutRow(deps, store, batch)
  }
}

async function* withoutRow({ lendingDocumentStore }: KeepingDeps, store: DocumentStore, files: readonly ListedDocument[]) {
  if (files.length === 0) return
  const known = await lendingDocumentStore.known(files.map(({ name }) => name))
  for (const file of files) if (!known.has(file.name)) yield { store, file }
}

/** Removes files that belong to no document and no picture. @returns how many */
export async function sweepDocuments(deps: KeepingDeps & Pick<LendingDocumentDeps, 'log'>): Promise<number> {
  let removed = 0
  for await (const { store, file } of orphanedFiles(deps)) {
    await store.delete(file.name)
    removed++
  }
  if (removed > 0) deps.log.info('documents.swept', { removed })
  return removed
}

/** How many documents there are. */
export const countDocuments = ({ lendingDocumentStore }: Pick<KeepingDeps, 'lendingDocumentStore'>): Promise<number> =>
  lendingDocumentStore.count()

/** The document that has a file of this name now. */
export const documentWithFile = (
  { lendingDocumentStore }: Pick<KeepingDeps, 'lendingDocumentStore'>,
  storageName: string,
): Promise<LendingDocument | undefined> => lendingDocumentStore.withFile(storageName)

/** A document whose file is not as it was handed in. */
export type DocumentFault = { readonly document: LendingDocument; readonly fault: 'MISSING' | 'ALTERED' | 'UNREACHABLE' }

/**
 * Opens every document to its end.
 * @param onSeen told how many were looked at
 */
export async function* documentFaults(
  deps: KeepingDeps & Pick<LendingDocumentDeps, 'keyring'>,
  onSeen: (documents: number) => void = () => undefined,
): AsyncGenerator<DocumentFault> {
  let seen = 0
  for await (const document of allDocuments(deps)) {
    const fault = await faultOf(deps, document)
    // One that was replaced meanwhile has gone with its row.
    const now = fault && (await deps.lendingDocumentStore.find(document.applicationId, document.key))
    if (fault && now?.id === document.id) yield { document, fault }
    onSeen(++seen)
  }
}

async function faultOf(
  deps: KeepingDeps & Pick<LendingDocumentDeps, 'keyring'>,
  document: LendingDocument,
): Promise<DocumentFault['fault'] | undefined> {
  try {
    const store = deps.documentStores.of(document.store)
    if (!store) return 'UNREACHABLE'
    if (!(await store.get(document.storageName))) return 'MISSING'
    for await (const _ of contentOf(deps, document, await fileOf(deps, document)));
    return undefined
  } catch (error) {
    return isSilent(error) ? 'UNREACHABLE' : 'ALTERED'
  }
}

/** Every document, a page at a time. */
export async function* allDocuments({ lendingDocumentStore }: Pick<KeepingDeps, 'lendingDocumentStore'>): AsyncGenerator<LendingDocument> {
  let page: LendingDocument[] = []
  do {
    page = await lendingDocumentStore.page(page.at(-1)?.id ?? '', pageRows)
    yield* page
  } while (page.length === pageRows)
}
