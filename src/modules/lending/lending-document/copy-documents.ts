import { type DocumentStore, isOfPictures, type KeptDocument } from '../../../core/documents.ts'
import { AppError } from '../../../core/errors.ts'
import type { Keyring } from '../../../core/keyring.ts'
import { digesting, digestOfAll } from '../../../lib/digest.ts'
import { SealBroken, sealedLength } from '../../../lib/sealed-stream.ts'
import type { LendingDocument } from '../application/domain.ts'
import { contentOf, type SealedDocument } from './content.ts'

type Kind = DocumentStore['kind']
/** A file that a database names: of a document, which is sealed, or of a picture, which lies as it is. */
export type NamedFile = { readonly store: Kind } & Pick<LendingDocument, 'storageName' | 'size'>
/** What it takes to know that the file of a picture is what was put there: SHA-256 in hex. */
export type PictureDigest = { readonly digest: string }
type Source = { of(kind: Kind): Pick<DocumentStore, 'get'> | undefined }
type Target = { of(kind: Kind): Pick<DocumentStore, 'get' | 'put' | 'delete'> | undefined }

/** What came of a copy: how much the files hold that are there now, and the names of those that are not. */
export type Copied = { readonly files: number; readonly bytes: number; readonly missing: readonly string[] } & Looked

/** What came of a look at those that were there already, by their names. */
export type Looked = {
  /** What was there was not what had been put there: now it is. */
  readonly mended: readonly string[]
  /** The file that is to be copied does not open, or is gone: what was there is as it was. */
  readonly damaged: readonly string[]
  /** The key that they are sealed under is not at hand, or their store does not answer: nobody can tell. */
  readonly untold: readonly string[]
}
export const nothingCopied: Copied = { files: 0, bytes: 0, missing: [], mended: [], damaged: [], untold: [] }

/** How a backup looks again at what is there in its whole length: a disk may have altered it. */
export type Looking = {
  readonly looksAt: (name: string) => boolean
  /** The document, or the picture, that has a file of this name now. */
  readonly documentOf: (name: string) => Promise<SealedDocument | PictureDigest | undefined> | SealedDocument | PictureDigest | undefined
  readonly keyring: Pick<Keyring, 'unseal'>
  /** Reads a file no faster than others can bear. */
  readonly pace?: (chunks: AsyncGenerator<Uint8Array>) => AsyncGenerator<Uint8Array>
}

export type CopyPlan = {
  /** The store of a file, by what its row says; undefined where there is none. */
  readonly from: Source
  readonly to: Target
  /**
   * Also what is there in its whole length is looked at, and replaced where it is not the same: a disk may have altered it. What is
   * replaced is put here first.
   */
  readonly replacedTo?: DocumentStore
  /** What is there in its whole length is replaced where it is not the same, and the file that is to be copied opens to its end. */
  readonly looking?: Looking | undefined
}

/**
 * Copies files as they are, sealed. A name is given once and never to other bytes, so that one which is there in its whole length is not
 * copied again, unless it is to be compared. What cannot be read is missing, and no reason to end: neither a file that the disk does not
 * give back, nor a store that does not answer, which is asked no more.
 * @param onBytes told how many bytes are done
 * @throws what the store throws that is copied to
 */
export async function copyFiles(
  files: AsyncIterable<NamedFile> | Iterable<NamedFile>,
  { from, to, replacedTo, looking }: CopyPlan,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Copied> {
  const missing: string[] = []
  const looked = { mended: [] as string[], damaged: [] as string[], untold: [] as string[] }
  const silent = new Set<Kind>()
  let [count, bytes] = [0, 0]
  for await (const { store, storageName: name, size } of files) {
    const length = isOfPictures(store) ? size : sealedLength(size)
    const target = to.of(store)
    const there = wholeOf(await target?.get(name), length)
    let isThere = there !== undefined
    const isLookedAt = there !== undefined && looking?.looksAt(name) === true
    if (target && !silent.has(store) && (!there || replacedTo || isLookedAt))
      try {
        const source = from.of(store)
        const file = wholeOf(await read(() => source?.get(name)), length)
        const verdict = isLookedAt ? (source ? await verdictOn(looking, name, file, there) : 'untold') : undefined
        if (verdict === 'damaged' || verdict === 'untold') looked[verdict].push(name)
        if (file && (isLookedAt ? verdict === 'differs' : !(there && (await isSame(file, there))))) {
          if (there && replacedTo) await keep(replacedTo, name, there)
          // What an earlier copy left of it half-way is in the way of another one.
          await target.delete(name)
          isThere = false
          await target.put(name, chunksOf(file))
          isThere = true
          if (isLookedAt) looked.mended.push(name)
        }
      } catch (error) {
        if (!(error instanceof Unread)) throw error
        if (isSilent(error.cause)) silent.add(store)
      }
    if (isLookedAt && silent.has(store)) looked.untold.push(name)
    if (isThere) {
      count++
      bytes += length
      onBytes(bytes)
    } else missing.push(name)
  }
  return { files: count, bytes, missing, ...looked }
}

const wholeOf = (file: KeptDocument | undefined, length: number): KeptDocument | undefined => (file?.bytes === length ? file : undefined)

/** What is to be copied cannot be read: removed meanwhile by a server that goes on, or its disk or its store fails. */
class Unread extends Error {}

async function read<T>(work: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await work()
  } catch (cause) {
    throw new Unread('not read', { cause })
  }
}

async function* chunksOf(file: KeptDocument): AsyncGenerator<Uint8Array> {
  try {
    yield* file.chunks()
  } catch (cause) {
    throw new Unread('not read', { cause })
  }
}

/** Whether what is there has the same bytes; not where it cannot be read any more. */
async function isSame(file: KeptDocument, there: KeptDocument): Promise<boolean> {
  const wanted = await digestOfAll(chunksOf(file))
  return wanted === (await digestOfAll(there.chunks()).catch(() => undefined))
}

/**
 * What a look at both files tells, each read once. Undefined: they are the same, or the document is gone meanwhile.
 * @throws Unread when the store of what is to be copied does not answer; what the other one throws when it does not
 */
async function verdictOn(
  { documentOf, keyring, pace = (chunks) => chunks }: Looking,
  name: string,
  file: KeptDocument | undefined,
  there: KeptDocument,
): Promise<'differs' | 'damaged' | 'untold' | undefined> {
  // After the file was looked for: it goes later than its row.
  const document = await documentOf(name)
  if (!document) return undefined
  if (!file) return 'damaged'
  let wanted: string | undefined
  const chunks = () =>
    digesting(pace(chunksOf(file)), (sha256) => {
      wanted = sha256
    })
  try {
    if ('digest' in document) for await (const _ of chunks());
    else for await (const _ of contentOf({ keyring }, document, { bytes: file.bytes, chunks }));
    if ('digest' in document && wanted !== document.digest) return 'damaged'
  } catch (error) {
    if (error instanceof SealBroken) return 'damaged'
    if (!(error instanceof Unread)) return 'untold'
    if (error.cause instanceof AppError) throw error
    return 'damaged'
  }
  const found = await digestOfAll(there.chunks()).catch((error: unknown) => {
    if (isSilent(error)) throw error
    return undefined
  })
  return found === wanted ? undefined : 'differs'
}

/** Puts a file that is to be replaced where it is kept, as far as it can be read. */
async function keep(store: DocumentStore, name: string, file: KeptDocument): Promise<void> {
  if (await store.get(name)) return
  try {
    await store.put(name, chunksOf(file))
  } catch (error) {
    if (!(error instanceof Unread)) throw error
  }
}

/** Whether a store did not answer, and so nothing is known of what is in it. */
export const isSilent = (error: unknown): boolean => error instanceof AppError && error.code === 'UNAVAILABLE'

/** Removes what is there under names that nobody has. */
export async function dropOthers(store: DocumentStore, names: ReadonlySet<string>): Promise<void> {
  const others: string[] = []
  for await (const { name } of store.list()) if (!names.has(name)) others.push(name)
  for (const name of others) await store.delete(name)
}
