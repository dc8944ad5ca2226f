import { DatabaseOutcomeUnknown, type Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { documentName, type StoredDocument } from '../../../core/documents.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { SealBroken, sealedLength, sealStream, streamKeys, withHash } from '../../../lib/sealed-stream.ts'
import { audited } from '../../operations/audit/index.ts'
import { allowedIn, type LendingApplication, type LendingDocument, type LendingStatus } from '../application/domain.ts'
import { appendEvent, checklistOf, findApplication, markRemoved, markUploaded, noSuchApplication } from '../application/index.ts'
import { openContent } from './content.ts'
import { checkFileType } from './content-type.ts'
import { type DocumentView, documentDifference, documentView, fileSeal, secretSeal } from './domain.ts'
import type { LendingDocumentDeps } from './providers.ts'
import { assertStoreIsOwn } from './store-registry.ts'

/** A document of an application, by its checklist key. */
type DocumentRef = { readonly applicationId: string; readonly key: string }
/** A merchant reads only their own applications, an operator reads all. */
type DocumentReader = { readonly merchantId: string } | { readonly operator: true }

type UploadedFile = {
  /** The declared media type. */
  readonly type: string
  /** The file name that the client sent. */
  readonly fileName: string | null
  /** In bytes, if the client declared it. */
  readonly length: number | undefined
  /** @throws AppError TOO_LARGE at the chunk that exceeds the limit */
  chunks(bytesMax: number): AsyncIterable<Uint8Array>
}

const secretBytes = 32
const mb = 1024 * 1024
const retryAfterSeconds = 5
const noSuchDocument = () => new AppError('NOT_FOUND', 'No such document')

/** @throws AppError NOT_FOUND, also for another merchant's application */
async function requireApplication(deps: LendingDocumentDeps, reader: DocumentReader, id: string, tx?: Writer): Promise<LendingApplication> {
  const application = await findApplication(deps, id, tx)
  if (!application || ('merchantId' in reader && application.merchantId !== reader.merchantId)) throw noSuchApplication()
  return application
}

/**
 * Returns the checklist item of a key.
 * @throws AppError NOT_FOUND
 */
function requireChecklistItem(application: LendingApplication, key: string) {
  const item = checklistOf(application).items.find((entry) => entry.key === key)
  if (!item) throw new AppError('NOT_FOUND', 'The checklist of this application has no such document')
  return item
}

const isIn = (states: readonly LendingStatus[], { status }: LendingApplication): boolean => states.includes(status)

/**
 * Refuses changes of submitted documents: after the submission, documents can be added but not replaced.
 * @throws AppError CONFLICT
 */
function assertAcceptsDocument(application: LendingApplication, before: LendingDocument | undefined): void {
  if (!isIn(allowedIn.upload, application)) throw new AppError('CONFLICT', 'The application is closed and accepts no more documents')
  if (before && !isIn(allowedIn.removeDocument, application))
    throw new AppError('CONFLICT', 'The application was submitted: its documents cannot be replaced, but others can be added')
}

/** Uploads leave two watermarks of disk space free. Below one watermark the whole instance is not ready. */
const watermarksFree = 2

/** @throws AppError UNAVAILABLE if the running uploads would bring the disk near its watermark */
async function assertRoom({ documentStores, config, documentUploadSlots }: LendingDocumentDeps): Promise<void> {
  const free = await documentStores.current.free()
  if (free !== undefined && free - documentUploadSlots.weight() < watermarksFree * config.diskFreeMinBytes)
    throw new AppError('UNAVAILABLE', 'The document storage is full: nothing was changed, try again later', { retryAfterSeconds })
}

/**
 * Stores a document and marks it as uploaded in one write, replacing an earlier file. All checks come before the first
 * byte is read.
 * @throws AppError NOT_FOUND for another merchant's application and for a key that its checklist does not have;
 * PRECONDITION_FAILED; CONFLICT by its status; UNSUPPORTED_MEDIA, TOO_LARGE by the class of the document; RATE_LIMITED;
 * UNAVAILABLE if the disk is nearly full; errors of the chunks
 */
export async function putDocument(
  deps: LendingDocumentDeps,
  by: CommandContext<ShopContext>,
  ref: DocumentRef,
  file: UploadedFile,
): Promise<DocumentView & { version: number }> {
  const application = await requireApplication(deps, by.shop, ref.applicationId)
  const item = requireChecklistItem(application, ref.key)
  const accepted: readonly string[] = item.acceptedMimeTypes
  const bytesMax = item.maxSizeMb * mb
  if (!accepted.includes(file.type)) throw new AppError('UNSUPPORTED_MEDIA', `Send this document as ${accepted.join(', ')}`)
  if ((file.length ?? 0) > bytesMax) throw new AppError('TOO_LARGE', `The body is larger than ${item.maxSizeMb} MB`)
  assertVersion(by.expected, application.version)
  assertAcceptsDocument(application, await deps.lendingDocumentStore.find(ref.applicationId, ref.key))
  assertStoreIsOwn(deps, deps.documentStores.current.kind)
  const release = deps.documentUploadSlots.take(by.shop.merchantId, undefined, sealedLength(file.length ?? bytesMax))
  try {
    await assertRoom(deps)
    const document = await sealAndStore(deps, by, ref, checkFileType({ type: file.type, accepted }, file.chunks(bytesMax)), file)
    return await removeFileOnFailure(deps, document, () => insertDocument(deps, by, document))
  } finally {
    release()
  }
}

/** Seals and stores the file before its row exists. */
async function sealAndStore(
  { documentStores, keyring, randomBytes, newId, clock }: LendingDocumentDeps,
  { actor }: Pick<CommandContext, 'actor'>,
  ref: DocumentRef,
  plain: AsyncIterable<Uint8Array>,
  { type, fileName }: UploadedFile,
): Promise<LendingDocument> {
  const name = { ...ref, id: newId('lendingDocument') }
  const secret = randomBytes(secretBytes)
  const keys = streamKeys(secret)
  const store = documentStores.current
  const storageName = documentName(randomBytes)
  let [hash, size] = ['', 0]
  const hashed = withHash(keys.hash, plain, (...result) => {
    ;[hash, size] = result
  })
  await store.put(storageName, sealStream(keys.seal, fileSeal(name), hashed))
  return {
    ...name,
    store: store.kind as LendingDocument['store'],
    storageName,
    mimeType: type,
    size,
    hash,
    originalName: fileName,
    sealedKey: keyring.seal(Buffer.from(secret).toString('base64'), secretSeal(name)),
    uploadedBy: actor.id,
    uploadedAt: clock.now(),
  }
}

/** Removes the file if its row was not written. If the outcome is unknown, the sweep decides later. */
async function removeFileOnFailure<T>(deps: LendingDocumentDeps, document: LendingDocument, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const isUnknown = [error, (error as Error).cause].some((cause) => cause instanceof DatabaseOutcomeUnknown)
    if (!isUnknown) await removeFile(deps, document)
    throw error
  }
}

/** Removes the file of a deleted row. If that fails, the sweep removes it later. */
async function removeFile({ documentStores, log }: LendingDocumentDeps, { store, storageName }: LendingDocument): Promise<void> {
  try {
    await documentStores.of(store)?.delete(storageName)
  } catch (error) {
    log.warn('documents.file_left', { store, storageName, error })
  }
}

async function insertDocument(
  deps: LendingDocumentDeps,
  by: CommandContext<ShopContext>,
  document: LendingDocument,
): Promise<DocumentView & { version: number }> {
  const { applicationId, key } = document
  const entry = { action: 'lending_document.uploaded', subject: applicationId }
  const { before, version } = await audited(deps, by, entry, async (tx, setDifference) => {
    const application = await requireApplication(deps, by.shop, applicationId, tx)
    requireChecklistItem(application, key)
    assertVersion(by.expected, application.version)
    const before = await deps.lendingDocumentStore.find(applicationId, key, tx)
    assertAcceptsDocument(application, before)
    if (before) await deps.lendingDocumentStore.remove(tx, before)
    await deps.lendingDocumentStore.insert(tx, document)
    const documentation = markUploaded(application.documentationCompleted, [key])
    const version = await updateDocumentation(tx, deps, by, application, { type: 'DOCUMENT_UPLOADED', key, documentation })
    setDifference(documentDifference(before, document))
    return { before, version }
  })
  if (before) await removeFile(deps, before)
  return { ...documentView(document), version }
}

/** Changes the documentation of the application together with its documents. Returns the new version. */
async function updateDocumentation(
  tx: Writer,
  deps: LendingDocumentDeps,
  { actor }: Pick<CommandContext, 'actor'>,
  before: LendingApplication,
  {
    type,
    key,
    documentation,
  }: { type: 'DOCUMENT_UPLOADED' | 'DOCUMENT_REMOVED'; key: string; documentation: LendingApplication['documentationCompleted'] },
): Promise<number> {
  const fields = { documentationCompleted: documentation, updatedAt: deps.clock.now(), version: before.version + 1 }
  assertNotStale((await deps.lendingDocumentStore.setDocumentation(tx, before, fields)) || undefined)
  await appendEvent(tx, deps, { type, subject: key, actor: actor.id, before, after: { ...before, ...fields } })
  return fields.version
}

/**
 * Removes a document while the application is a draft.
 * @throws AppError NOT_FOUND; PRECONDITION_FAILED; CONFLICT once submitted
 */
export async function removeDocument(
  deps: LendingDocumentDeps,
  by: CommandContext<ShopContext>,
  { applicationId, key }: DocumentRef,
): Promise<void> {
  const entry = { action: 'lending_document.removed', subject: applicationId }
  const removed = await audited(deps, by, entry, async (tx, setDifference) => {
    const application = await requireApplication(deps, by.shop, applicationId, tx)
    const document = await deps.lendingDocumentStore.find(applicationId, key, tx)
    if (!document) throw noSuchDocument()
    assertVersion(by.expected, application.version)
    assertStoreIsOwn(deps, document.store)
    if (!isIn(allowedIn.removeDocument, application))
      throw new AppError('CONFLICT', 'The application was submitted: its documents cannot be removed')
    await deps.lendingDocumentStore.remove(tx, document)
    const documentation = markRemoved(application.documentationCompleted, key)
    await updateDocumentation(tx, deps, by, application, { type: 'DOCUMENT_REMOVED', key, documentation })
    setDifference(documentDifference(document, undefined))
    return document
  })
  await removeFile(deps, removed)
}

/** A document and its content, whose first chunk was read. A caller that stops early must end the generator. */
type OpenedDocument = { readonly document: LendingDocument; readonly content: AsyncGenerator<Uint8Array> }

/**
 * Opens a document.
 * @throws AppError NOT_FOUND; an error if its file is missing or was changed
 */
export async function readDocument(
  deps: LendingDocumentDeps,
  reader: DocumentReader,
  { applicationId, key }: DocumentRef,
): Promise<OpenedDocument> {
  await requireApplication(deps, reader, applicationId)
  const document = await deps.lendingDocumentStore.find(applicationId, key)
  if (!document) throw noSuchDocument()
  try {
    return await openDocument(deps, document)
  } catch (error) {
    // The document may have been replaced after its row was read.
    const now = await deps.lendingDocumentStore.find(applicationId, key)
    if (!now) throw noSuchDocument()
    if (now.id !== document.id) return await openDocument(deps, now)
    logReadFailure(deps, document, error)
    throw error
  }
}

/**
 * Opens a document for an operator. The audit row is written before any content is returned.
 * @throws AppError as `readDocument` does
 */
export async function readDocumentAsOperator(
  deps: LendingDocumentDeps,
  { actor }: Pick<CommandContext, 'actor'>,
  ref: DocumentRef,
): Promise<OpenedDocument> {
  const opened = await readDocument(deps, { operator: true }, ref)
  const entry = { action: 'lending_document.read', subject: ref.applicationId }
  try {
    await audited(deps, { actor }, entry, async (_tx, setDifference) => setDifference({ before: null, after: { key: ref.key } }))
    return opened
  } catch (error) {
    await opened.content.return(undefined)
    throw error
  }
}

/**
 * Opens the file and reads its first chunk, so that a missing or broken file fails before the response starts.
 * An open file stays readable while the document is replaced.
 */
async function openDocument(deps: LendingDocumentDeps, document: LendingDocument): Promise<OpenedDocument> {
  const chunks = openContent(deps, document, await requireFile(deps, document))
  const content = remainingChunks(deps, document, chunks, await chunks.next())
  // Starts the generator: one that has not started would not end its source.
  await content.next()
  return { document, content }
}

/** Reads the rest of the content. Damage found here breaks off the response. The first chunk is empty. */
async function* remainingChunks(
  deps: LendingDocumentDeps,
  document: LendingDocument,
  chunks: AsyncGenerator<Uint8Array>,
  first: IteratorResult<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield new Uint8Array()
    if (!first.done) yield first.value
    yield* chunks
  } catch (error) {
    logReadFailure(deps, document, error)
    throw error
  } finally {
    await chunks.return(undefined)
  }
}

function logReadFailure({ log }: LendingDocumentDeps, { id, store }: LendingDocument, error: unknown): void {
  if (error instanceof FileMissing) log.error('documents.missing', { id, store })
  else if (error instanceof AppError) log.warn('documents.store_silent', { id, store, error })
  else log.error('documents.damaged', { id, store, error })
}

/** The file may be in another store or on a disk that is not mounted. */
class FileMissing extends AppError {
  constructor() {
    super('UNAVAILABLE', 'The file of this document is not in the document storage: try again later', { retryAfterSeconds })
  }
}

/** @throws AppError UNAVAILABLE if the file is missing or the store does not respond; SealBroken for a wrong length */
export async function requireFile(
  { documentStores }: Pick<LendingDocumentDeps, 'documentStores'>,
  document: LendingDocument,
): Promise<StoredDocument> {
  const store = documentStores.of(document.store)
  if (!store) throw new AppError('UNAVAILABLE', 'The storage of this document is not configured', { retryAfterSeconds })
  const file = await store.get(document.storageName)
  if (!file) throw new FileMissing()
  if (file.bytes !== sealedLength(document.size)) throw new SealBroken('the file of a document has another length')
  return file
}

/**
 * Lists the documents of an application by key. All are read for any page, since there are few.
 * @throws AppError NOT_FOUND for another merchant's application
 */
export async function listDocuments(
  deps: LendingDocumentDeps,
  merchantId: string,
  applicationId: string,
  slice: PageSlice,
): Promise<Page<DocumentView>> {
  await requireApplication(deps, { merchantId }, applicationId)
  const documents = (await deps.lendingDocumentStore.allOf(applicationId)).map(documentView).sort((a, b) => (a.key < b.key ? -1 : 1))
  const { after, limit, offset } = slice
  const remaining = after == null ? documents : documents.filter(({ key }) => key > after)
  return pageOf(remaining.slice(offset, offset + limit), documents.length, slice)
}
