import { type DocumentStore, documentSettlesMs, type ListedDocument, storeKinds } from '../../../core/documents.ts'
import type { LendingDocument } from '../application/domain.ts'
import { openContent } from './content.ts'
import { isStoreUnavailable } from './copy-documents.ts'
import type { LendingDocumentDeps } from './providers.ts'
import { requireFile } from './service.ts'
import { foreignMarkOf } from './store-registry.ts'

const pageRows = 200
const lookupBatch = 200

type RetentionDeps = Pick<LendingDocumentDeps, 'lendingDocumentStore' | 'documentStores' | 'clock'>

/** Returns every configured store. */
const storesOf = ({ documentStores }: RetentionDeps): DocumentStore[] => storeKinds.flatMap((kind) => documentStores.of(kind) ?? [])

/**
 * Finds files without a document or picture: uploads whose process ended, and replaced or removed documents.
 * Skips files younger than a day, since they may belong to a running upload.
 */
export async function* orphanedFiles(deps: RetentionDeps): AsyncGenerator<{ store: DocumentStore; file: ListedDocument }> {
  const before = deps.clock.now() - documentSettlesMs
  for (const store of storesOf(deps)) {
    // A store that is not of this database holds files of another one.
    if ((await foreignMarkOf(deps, store)) !== undefined) continue
    let batch: ListedDocument[] = []
    for await (const file of store.list()) {
      if (!(file.at <= before)) continue
      batch.push(file)
      if (batch.length < lookupBatch) continue
      yield* filesWithoutRow(deps, store, batch)
      batch = []
    }
    yield* filesWithoutRow(deps, store, batch)
  }
}

async function* filesWithoutRow({ lendingDocumentStore }: RetentionDeps, store: DocumentStore, files: readonly ListedDocument[]) {
  if (files.length === 0) return
  const names = await lendingDocumentStore.knownFiles(files.map(({ name }) => name))
  for (const file of files) if (!names.has(file.name)) yield { store, file }
}

/**
 * Removes files without a document or picture.
 * @returns how many
 */
export async function sweepDocuments(deps: RetentionDeps & Pick<LendingDocumentDeps, 'log'>): Promise<number> {
  let removed = 0
  for await (const { store, file } of orphanedFiles(deps)) {
    await store.delete(file.name)
    removed++
  }
  if (removed > 0) deps.log.info('documents.swept', { removed })
  return removed
}

/** Counts the documents of all applications. */
export const countDocuments = ({ lendingDocumentStore }: Pick<RetentionDeps, 'lendingDocumentStore'>): Promise<number> =>
  lendingDocumentStore.count()

/** Finds the document that has a file of this name now. */
export const findDocumentByFile = (
  { lendingDocumentStore }: Pick<RetentionDeps, 'lendingDocumentStore'>,
  storageName: string,
): Promise<LendingDocument | undefined> => lendingDocumentStore.findByFile(storageName)

/** A document whose file is missing or does not match. */
type DocumentFault = { readonly document: LendingDocument; readonly fault: 'MISSING' | 'ALTERED' | 'UNREACHABLE' }

/**
 * Reads every document to its end and verifies it.
 * @param onSeen called with the number of checked documents
 */
export async function* documentFaults(
  deps: RetentionDeps & Pick<LendingDocumentDeps, 'keyring'>,
  onSeen: (documents: number) => void = () => undefined,
): AsyncGenerator<DocumentFault> {
  let checked = 0
  for await (const document of allDocuments(deps)) {
    const fault = await faultOf(deps, document)
    // A document that was replaced meanwhile has no fault.
    const now = fault && (await deps.lendingDocumentStore.find(document.applicationId, document.key))
    if (fault && now?.id === document.id) yield { document, fault }
    onSeen(++checked)
  }
}

async function faultOf(
  deps: RetentionDeps & Pick<LendingDocumentDeps, 'keyring'>,
  document: LendingDocument,
): Promise<DocumentFault['fault'] | undefined> {
  try {
    const store = deps.documentStores.of(document.store)
    if (!store) return 'UNREACHABLE'
    if (!(await store.get(document.storageName))) return 'MISSING'
    for await (const _ of openContent(deps, document, await requireFile(deps, document)));
    return undefined
  } catch (error) {
    return isStoreUnavailable(error) ? 'UNREACHABLE' : 'ALTERED'
  }
}

/** Reads all documents page by page. */
async function* allDocuments({ lendingDocumentStore }: Pick<RetentionDeps, 'lendingDocumentStore'>): AsyncGenerator<LendingDocument> {
  let page: LendingDocument[] = []
  do {
    page = await lendingDocumentStore.page(page.at(-1)?.id ?? '', pageRows)
    yield* page
  } while (page.length === pageRows)
}
