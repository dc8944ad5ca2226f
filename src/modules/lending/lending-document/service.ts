import { DatabaseOutcomeUnknown, type Writer } from '../../../../db/engine.ts'
import type { Change } from '../../../core/command-context.ts'
import { documentName, type KeptDocument } from '../../../core/documents.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertExpected, unlessStale } from '../../../core/versions.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { hashing, SealBroken, sealedLength, sealStream, streamKeys } from '../../../lib/sealed-stream.ts'
import { audited } from '../../operations/audit/index.ts'
import { allowedIn, type LendingApplication, type LendingDocument, type LendingStatus } from '../application/domain.ts'
import { appendEvent, applicationWithId, checklistOf, noSuchApplication, withoutUploaded, withUploaded } from '../application/index.ts'
import { contentOf } from './content.ts'
import { checkedFile } from './content-type.ts'
import { type DocumentView, documentDifference, documentView, fileSeal, secretSeal } from './domain.ts'
import type { LendingDocumentDeps } from './providers.ts'
import { assertOwn } from './register-document.ts'

/** A document of an application, by its place in the checklist. */
export type Which = { readonly applicationId: string; readonly key: string }
/** Whose application it is: the merchant's; or an operator reads it, who may read all. */
export type Reads = { readonly merchantId: string } | { readonly operator: true }

/** What comes with a file. */
export type Incoming = {
  /** The media type that it is declared as. */
  readonly type: string
  /** As its sender calls it. */
  readonly fileName: string | null
  /** In bytes, as far as that was said. */
  readonly length: number | undefined
  /** @throws AppError TOO_LARGE at the chunk that is too much */
  chunks(bytesMax: number): AsyncIterable<Uint8Array>
}

const secretBytes = 32
const mb = 1024 * 1024
const retryAfterSeconds = 5
const noSuchDocument = () => new AppError('NOT_FOUND', 'No such document')

/** @throws AppError NOT_FOUND, for another merchant's too */
async function applicationOf(deps: LendingDocumentDeps, reads: Reads, id: string, tx?: Writer): Promise<LendingApplication> {
  const application = await applicationWithId(deps, id, tx)
  if (!application || ('merchantId' in reads && application.merchantId !== reads.merchantId)) throw noSuchApplication()
  return application
}

/** What an application asks for under a key. @throws AppError NOT_FOUND */
function askedOf(application: LendingApplication, key: string) {
  const item = checklistOf(application).items.find((one) => one.key === key)
  if (!item) throw new AppError('NOT_FOUND', 'The checklist of this application has no such document')
  return item
}

const isIn = (states: readonly LendingStatus[], { status }: LendingApplication): boolean => states.includes(status)

/** @throws AppError CONFLICT. What was handed in stays once it was submitted: another one may come beside it, and none in its place. */
function assertMayTake(application: LendingApplication, before: LendingDocument | undefined): void {
  if (!isIn(allowedIn.handIn, application)) throw new AppError('CONFLICT', 'The application is closed: it takes no more documents')
  if (before && !isIn(allowedIn.takeBack, application))
    throw new AppError('CONFLICT', 'The application is no draft any more: a document that is there stays, and others may be added')
}

/** So many watermarks stay free: the other half is what all shops go on with, who would be unready below the first. */
const watermarksKept = 2

/** @throws AppError UNAVAILABLE where the disk would come near its watermark with all that is under way */
async function assertRoom({ documentStores, config, uploadSlots }: LendingDocumentDeps): Promise<void> {
  const free = await documentStores.current.free()
  if (free !== undefined && free - uploadSlots.bytes() < watermarksKept * config.diskFreeMinBytes)
    throw new AppError('UNAVAILABLE', 'There is no room for documents: nothing was changed, try again later', { retryAfterSeconds })
}

/**
 * Takes a file as a document of an application, in the place of the one that was there, and marks it as handed in: in one write, once the
 * file is kept. Nothing of it is read before it is known that it may come.
 * @throws AppError NOT_FOUND for an application that is none of the merchant's, and for a key that
 *   its checklist does not have; PRECONDITION_FAILED; CONFLICT by its status; UNSUPPORTED_MEDIA, TOO_LARGE by the class of the document;
 *   RATE_LIMITED; UNAVAILABLE when the disk is nearly full; what the chunks throw
 */
export async function putDocument(
  deps: LendingDocumentDeps,
  by: Change<ShopContext>,
  which: Which,
  file: Incoming,
): Promise<DocumentView & { version: number }> {
  const application = await applicationOf(deps, by.shop, which.applicationId)
  const asked = askedOf(application, which.key)
  const accepted: readonly string[] = asked.acceptedMimeTypes
  const bytesMax = asked.maxSizeMb * mb
  if (!accepted.includes(file.type)) throw new AppError('UNSUPPORTED_MEDIA', `Send this document as ${accepted.join(', ')}`)
  if ((file.length ?? 0) > bytesMax) throw new AppError('TOO_LARGE', `The body is larger than ${asked.maxSizeMb} MB`)
  assertExpected(by.expected, application.version)
  assertMayTake(application, await deps.lendingDocumentStore.find(which.applicationId, which.key))
  assertOwn(deps, deps.documentStores.current.kind)
  const leave = deps.uploadSlots.take(by.shop.merchantId, sealedLength(file.length ?? bytesMax))
  try {
    await assertRoom(deps)
    const document = await kept(deps, by, which, checkedFile({ type: file.type, accepted }, file.chunks(bytesMax)), file)
    return await unlessLost(deps, document, () => handIn(deps, by, document))
  } finally {
    leave()
  }
}

/** Seals and keeps a file; the row is not there yet. */
async function kept(
  { documentStores, keyring, randomBytes, newId, clock }: LendingDocumentDeps,
  { actor }: Pick<Change, 'actor'>,
  which: Which,
  plain: AsyncIterable<Uint8Array>,
  { type, fileName }: Incoming,
): Promise<LendingDocument> {
  const name = { ...which, id: newId('lendingDocument') }
  const secret = randomBytes(secretBytes)
  const keys = streamKeys(secret)
  const store = documentStores.current
  const storageName = documentName(randomBytes)
  let [hash, size] = ['', 0]
  const hashed = hashing(keys.hash, plain, (...told) => {
    ;[hash, size] = told
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

/** Removes the file again where its row was not written; where nobody knows, the sweep will. */
async function unlessLost<T>(deps: LendingDocumentDeps, document: LendingDocument, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const isUnknown = [error, (error as Error).cause].some((one) => one instanceof DatabaseOutcomeUnknown)
    if (!isUnknown) await removeFile(deps, document)
    throw error
  }
}

/** A file whose row is gone goes too; if it cannot now, the sweep finds it. */
async function removeFile({ documentStores, log }: LendingDocumentDeps, { store, storageName }: LendingDocument): Promise<void> {
  try {
    await documentStores.of(store)?.delete(storageName)
  } catch (error) {
    log.warn('documents.file_left', { store, storageName, error })
  }
}

async function handIn(
  deps: LendingDocumentDeps,
  by: Change<ShopContext>,
  document: LendingDocument,
): Promise<DocumentView & { version: number }> {
  const { applicationId, key } = document
  const entry = { action: 'lending_document.uploaded', subject: applicationId }
  const { before, version } = await audited(deps, by, entry, async (tx, tell) => {
    const application = await applicationOf(deps, by.shop, applicationId, tx)
    askedOf(application, key)
    assertExpected(by.expected, application.version)
    const before = await deps.lendingDocumentStore.find(applicationId, key, tx)
    assertMayTake(application, before)
    if (before) await deps.lendingDocumentStore.remove(tx, before)
    await deps.lendingDocumentStore.insert(tx, document)
    const said = withUploaded(application.documentationCompleted, [key])
    const version = await note(tx, deps, by, application, { type: 'DOCUMENT_UPLOADED', key, said })
    tell(documentDifference(before, document))
    return { before, version }
  })
  if (before) await removeFile(deps, before)
  return { ...documentView(document), version }
}

/** What an application says of its documents is changed together with them. Returns its new version. */
async function note(
  tx: Writer,
  deps: LendingDocumentDeps,
  { actor }: Pick<Change, 'actor'>,
  before: LendingApplication,
  { type, key, said }: { type: 'DOCUMENT_UPLOADED' | 'DOCUMENT_REMOVED'; key: string; said: LendingApplication['documentationCompleted'] },
): Promise<number> {
  const fields = { documentationCompleted: said, updatedAt: deps.clock.now(), version: before.version + 1 }
  unlessStale((await deps.lendingDocumentStore.noteOn(tx, before, fields)) || undefined)
  await appendEvent(tx, deps, { type, subject: key, actor: actor.id, before, after: { ...before, ...fields } })
  return fields.version
}

/**
 * Takes a document back, while the application is a draft.
 * @throws AppError NOT_FOUND; PRECONDITION_FAILED; CONFLICT once it was submitted
 */
export async function removeDocument(deps: LendingDocumentDeps, by: Change<ShopContext>, { applicationId, key }: Which): Promise<void> {
  const entry = { action: 'lending_document.removed', subject: applicationId }
  const removed = await audited(deps, by, entry, async (tx, tell) => {
    const application = await applicationOf(deps, by.shop, applicationId, tx)
    const document = await deps.lendingDocumentStore.find(applicationId, key, tx)
    if (!document) throw noSuchDocument()
    assertExpected(by.expected, application.version)
    assertOwn(deps, document.store)
    if (!isIn(allowedIn.takeBack, application))
      throw new AppError('CONFLICT', 'The application is no draft any more: a document that is there stays')
    await deps.lendingDocumentStore.remove(tx, document)
    const said = withoutUploaded(application.documentationCompleted, key)
    await note(tx, deps, by, application, { type: 'DOCUMENT_REMOVED', key, said })
    tell(documentDifference(document, undefined))
    return document
  })
  await removeFile(deps, removed)
}

/** A document and its content, of which the first chunk has been read: whoever does not read it to its end ends it. */
export type Opened = { readonly document: LendingDocument; readonly content: AsyncGenerator<Uint8Array> }

/**
 * A document of a merchant's own application.
 * @throws AppError NOT_FOUND; an error when its file is missing or was changed
 */
export async function readDocument(deps: LendingDocumentDeps, reads: Reads, { applicationId, key }: Which): Promise<Opened> {
  await applicationOf(deps, reads, applicationId)
  const document = await deps.lendingDocumentStore.find(applicationId, key)
  if (!document) throw noSuchDocument()
  try {
    return await opened(deps, document)
  } catch (error) {
    // It may have been replaced since its row was read: then there is another row.
    const now = await deps.lendingDocumentStore.find(applicationId, key)
    if (!now) throw noSuchDocument()
    if (now.id !== document.id) return await opened(deps, now)
    noteDamage(deps, document, error)
    throw error
  }
}

/**
 * The same for an operator, who may read all: that they did is on record before they are told anything.
 * @throws AppError as `readDocument` does
 */
export async function readDocumentAsOperator(deps: LendingDocumentDeps, { actor }: Pick<Change, 'actor'>, which: Which): Promise<Opened> {
  const found = await readDocument(deps, { operator: true }, which)
  const entry = { action: 'lending_document.read', subject: which.applicationId }
  try {
    await audited(deps, { actor }, entry, async (_tx, tell) => tell({ before: null, after: { key: which.key } }))
    return found
  } catch (error) {
    await found.content.return(undefined)
    throw error
  }
}

/**
 * What is kept of a document, opened as far as its first chunk: what is missing or does not open is told before anything is sent. What is
 * open stays so, though the document is replaced meanwhile.
 */
async function opened(deps: LendingDocumentDeps, document: LendingDocument): Promise<Opened> {
  const chunks = contentOf(deps, document, await fileOf(deps, document))
  const content = goingOn(deps, document, chunks, await chunks.next())
  // As far as what follows the first chunk: a generator that has not begun would end without ending what it reads.
  await content.next()
  return { document, content }
}

/** What is found to be damaged while it is sent cannot be said to whom it is sent: their answer breaks off. The first piece is empty. */
async function* goingOn(
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
    noteDamage(deps, document, error)
    throw error
  } finally {
    await chunks.return(undefined)
  }
}

function noteDamage({ log }: LendingDocumentDeps, { id, store }: LendingDocument, error: unknown): void {
  if (error instanceof Missing) log.error('documents.missing', { id, store })
  else if (error instanceof AppError) log.warn('documents.store_silent', { id, store, error })
  else log.error('documents.damaged', { id, store, error })
}

/** It is not lost for that: another store may be at hand, or a disk not mounted. */
class Missing extends AppError {
  constructor() {
    super('UNAVAILABLE', 'The file of this document is not in the store at hand: try again later', { retryAfterSeconds })
  }
}

/** @throws AppError UNAVAILABLE when it is not there, or the store does not answer; SealBroken when it is of another length */
export async function fileOf(
  { documentStores }: Pick<LendingDocumentDeps, 'documentStores'>,
  document: LendingDocument,
): Promise<KeptDocument> {
  const store = documentStores.of(document.store)
  if (!store) throw new AppError('UNAVAILABLE', 'The store that holds this document is not configured', { retryAfterSeconds })
  const file = await store.get(document.storageName)
  if (!file) throw new Missing()
  if (file.bytes !== sealedLength(document.size)) throw new SealBroken('the file of a document is of another length')
  return file
}

/**
 * What is kept of each document of an application, by its key, without the file. There are few: they are all read for any part of them.
 * @throws AppError NOT_FOUND for an application that is not the merchant's
 */
export async function listDocuments(
  deps: LendingDocumentDeps,
  merchantId: string,
  applicationId: string,
  slice: Slice,
): Promise<Page<DocumentView>> {
  await applicationOf(deps, { merchantId }, applicationId)
  const all = (await deps.lendingDocumentStore.allOf(applicationId)).map(documentView).sort((a, b) => (a.key < b.key ? -1 : 1))
  const { after, limit, offset } = slice
  const rest = after == null ? all : all.filter(({ key }) => key > after)
  return pageOf(rest.slice(offset, offset + limit), all.length, slice)
}
