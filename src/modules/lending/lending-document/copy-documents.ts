import { type DocumentStore, isPictureStore, type StoredDocument } from '../../../core/documents.ts'
import { AppError } from '../../../core/errors.ts'
import type { Keyring } from '../../../core/keyring.ts'
import { digestOfAll, withDigest } from '../../../lib/digest.ts'
import { SealBroken, sealedLength } from '../../../lib/sealed-stream.ts'
import type { LendingDocument } from '../application/domain.ts'
import { openContent, type SealedDocument } from './content.ts'

type Kind = DocumentStore['kind']
/** A file that the database names. Documents are sealed; pictures are stored as they are. */
export type NamedFile = { readonly store: Kind } & Pick<LendingDocument, 'storageName' | 'size'>
/** SHA-256 of a picture, in hex. */
export type PictureDigest = { readonly digest: string }
type Source = { of(kind: Kind): Pick<DocumentStore, 'get'> | undefined }
type Target = { of(kind: Kind): Pick<DocumentStore, 'get' | 'put' | 'delete'> | undefined }

/** `bytes` counts the files that are present after the copy; `missing` names the others. */
export type CopyResult = { readonly files: number; readonly bytes: number; readonly missing: readonly string[] } & VerificationResult

/** The names of existing files by the result of their verification. */
export type VerificationResult = {
  /** The existing file differed and was replaced. */
  readonly repaired: readonly string[]
  /** The source file does not open or is missing. The existing file was left unchanged. */
  readonly damaged: readonly string[]
  /** The key is not available or a store did not respond. */
  readonly unverifiable: readonly string[]
}
export const emptyCopyResult: CopyResult = { files: 0, bytes: 0, missing: [], repaired: [], damaged: [], unverifiable: [] }

/** Verifies files that exist in full length, since a disk may have changed them. */
export type Verification = {
  readonly isSelected: (name: string) => boolean
  /** Returns the document or picture that has a file of this name now. */
  readonly documentOf: (name: string) => Promise<SealedDocument | PictureDigest | undefined> | SealedDocument | PictureDigest | undefined
  readonly keyring: Pick<Keyring, 'unseal'>
  /** Slows down reading, so that requests stay fast. */
  readonly pace?: (chunks: AsyncGenerator<Uint8Array>) => AsyncGenerator<Uint8Array>
}

type CopyPlan = {
  /** Returns undefined for a kind of store that is not configured. */
  readonly from: Source
  readonly to: Target
  /**
   * Also compares files that exist in full length and replaces those that differ. The replaced file is stored here
   * first.
   */
  readonly replacedTo?: DocumentStore
  /** Replaces an existing file that differs, if the source file opens to its end. */
  readonly verification?: Verification | undefined
}

/**
 * Copies files in sealed form. A name always has the same content, so an existing file of the right length is skipped
 * unless it is to be compared.
 * A file that cannot be read counts as missing and does not end the copy. A source store that does not respond is not
 * asked again.
 * @param onBytes called with the bytes that are done
 * @throws errors of the target store
 */
export async function copyFiles(
  files: AsyncIterable<NamedFile> | Iterable<NamedFile>,
  { from, to, replacedTo, verification }: CopyPlan,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<CopyResult> {
  const missing: string[] = []
  const verified = { repaired: [] as string[], damaged: [] as string[], unverifiable: [] as string[] }
  const unavailableStores = new Set<Kind>()
  let [count, bytes] = [0, 0]
  for await (const { store, storageName: name, size } of files) {
    const length = isPictureStore(store) ? size : sealedLength(size)
    const target = to.of(store)
    const existing = ofLength(await target?.get(name), length)
    let isPresent = existing !== undefined
    const isVerified = existing !== undefined && verification?.isSelected(name) === true
    if (target && !unavailableStores.has(store) && (!existing || replacedTo || isVerified))
      try {
        const source = from.of(store)
        const file = ofLength(await readSource(() => source?.get(name)), length)
        const verdict = isVerified ? (source ? await compareFiles(verification, name, file, existing) : 'unverifiable') : undefined
        if (verdict === 'damaged' || verdict === 'unverifiable') verified[verdict].push(name)
        if (file && (isVerified ? verdict === 'differs' : !(existing && (await hasSameBytes(file, existing))))) {
          if (existing && replacedTo) await saveReplaced(replacedTo, name, existing)
          // Removes a partial file of an earlier copy.
          await target.delete(name)
          isPresent = false
          await target.put(name, chunksOf(file))
          isPresent = true
          if (isVerified) verified.repaired.push(name)
        }
      } catch (error) {
        if (!(error instanceof UnreadableSource)) throw error
        if (isStoreUnavailable(error.cause)) unavailableStores.add(store)
      }
    if (isVerified && unavailableStores.has(store)) verified.unverifiable.push(name)
    if (isPresent) {
      count++
      bytes += length
      onBytes(bytes)
    } else missing.push(name)
  }
  return { files: count, bytes, missing, ...verified }
}

const ofLength = (file: StoredDocument | undefined, length: number): StoredDocument | undefined =>
  file?.bytes === length ? file : undefined

/** The source file cannot be read: it was removed by a running server, or its disk or store fails. */
class UnreadableSource extends Error {}

async function readSource<T>(work: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await work()
  } catch (cause) {
    throw new UnreadableSource('not read', { cause })
  }
}

async function* chunksOf(file: StoredDocument): AsyncGenerator<Uint8Array> {
  try {
    yield* file.chunks()
  } catch (cause) {
    throw new UnreadableSource('not read', { cause })
  }
}

/** Returns false if the existing file cannot be read. */
async function hasSameBytes(file: StoredDocument, existing: StoredDocument): Promise<boolean> {
  const digest = await digestOfAll(chunksOf(file))
  return digest === (await digestOfAll(existing.chunks()).catch(() => undefined))
}

/**
 * Reads both files once and compares them. Returns undefined if they are equal or the document no longer exists.
 * @throws UnreadableSource if the source store does not respond; errors of the target store if that does not respond
 */
async function compareFiles(
  { documentOf, keyring, pace = (chunks) => chunks }: Verification,
  name: string,
  file: StoredDocument | undefined,
  existing: StoredDocument,
): Promise<'differs' | 'damaged' | 'unverifiable' | undefined> {
  // Read after the file: a server removes the row first.
  const document = await documentOf(name)
  if (!document) return undefined
  if (!file) return 'damaged'
  let sourceDigest: string | undefined
  const chunks = () =>
    withDigest(pace(chunksOf(file)), (sha256) => {
      sourceDigest = sha256
    })
  try {
    if ('digest' in document) for await (const _ of chunks());
    else for await (const _ of openContent({ keyring }, document, { bytes: file.bytes, chunks }));
    if ('digest' in document && sourceDigest !== document.digest) return 'damaged'
  } catch (error) {
    if (error instanceof SealBroken) return 'damaged'
    if (!(error instanceof UnreadableSource)) return 'unverifiable'
    if (error.cause instanceof AppError) throw error
    return 'damaged'
  }
  const existingDigest = await digestOfAll(existing.chunks()).catch((error: unknown) => {
    if (isStoreUnavailable(error)) throw error
    return undefined
  })
  return existingDigest === sourceDigest ? undefined : 'differs'
}

/** Stores the file that will be replaced, as far as it can be read. */
async function saveReplaced(store: DocumentStore, name: string, file: StoredDocument): Promise<void> {
  if (await store.get(name)) return
  try {
    await store.put(name, chunksOf(file))
  } catch (error) {
    if (!(error instanceof UnreadableSource)) throw error
  }
}

/** Returns whether the store did not respond, so that its content is unknown. */
export const isStoreUnavailable = (error: unknown): boolean => error instanceof AppError && error.kind === 'UNAVAILABLE'

/** Removes the files whose names are not in `names`. */
export async function removeOtherFiles(store: DocumentStore, names: ReadonlySet<string>): Promise<void> {
  const otherNames: string[] = []
  for await (const { name } of store.list()) if (!names.has(name)) otherNames.push(name)
  for (const name of otherNames) await store.delete(name)
}
