import type { DocumentStore, KeptDocument } from '../../core/documents.ts'
import { AppError } from '../../core/errors.ts'
import { digestOfAll } from '../../lib/digest.ts'
import { sealedLength } from '../../lib/sealed-stream.ts'
import type { LendingDocument } from '../lending/domain.ts'

/** A file that a database names. */
export type NamedFile = Pick<LendingDocument, 'store' | 'storageName' | 'size'>
type Kind = DocumentStore['kind']
type Source = { of(kind: Kind): Pick<DocumentStore, 'get'> | undefined }
type Target = { of(kind: Kind): Pick<DocumentStore, 'get' | 'put' | 'delete'> | undefined }

/** What came of a copy: how much the files hold that are there now, and the names of those that are not. */
export type Copied = { readonly files: number; readonly bytes: number; readonly missing: readonly string[] }

export type CopyPlan = {
  /** The store of a file, by what its row says; undefined where there is none. */
  readonly from: Source
  readonly to: Target
  /**
   * Also what is there in its whole length is looked at, and replaced where it is not the same: a disk may have altered it. What is
   * replaced is put here first.
   */
  readonly replacedTo?: DocumentStore
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
  { from, to, replacedTo }: CopyPlan,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Copied> {
  const missing: string[] = []
  const silent = new Set<Kind>()
  let [count, bytes] = [0, 0]
  for await (const { store, storageName: name, size } of files) {
    const length = sealedLength(size)
    const target = to.of(store)
    const there = wholeOf(await target?.get(name), length)
    let isThere = there !== undefined
    if (target && !silent.has(store) && (!there || replacedTo))
      try {
        const file = wholeOf(await read(() => from.of(store)?.get(name)), length)
        if (file && !(there && (await isSame(file, there)))) {
          if (there && replacedTo) await keep(replacedTo, name, there)
          // What an earlier copy left of it half-way is in the way of another one.
          await target.delete(name)
          isThere = false
          await target.put(name, chunksOf(file))
          isThere = true
        }
      } catch (error) {
        if (!(error instanceof Unread)) throw error
        if (isSilent(error.cause)) silent.add(store)
      }
    if (isThere) {
      count++
      bytes += length
      onBytes(bytes)
    } else missing.push(name)
  }
  return { files: count, bytes, missing }
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
