import type { DocumentStore, KeptDocument } from '../../core/documents.ts'
import { AppError } from '../../core/errors.ts'
import { sealedLength } from '../../lib/sealed-stream.ts'
import type { LendingDocument } from '../lending/domain.ts'

/** A file that a database names. */
export type NamedFile = Pick<LendingDocument, 'store' | 'storageName' | 'size'>
type Stores = { of(kind: DocumentStore['kind']): DocumentStore | undefined }

/** What came of a copy: how much the files hold that are there now, and the names of those that are not. */
export type Copied = { readonly files: number; readonly bytes: number; readonly missing: readonly string[] }

/**
 * Copies files as they are, sealed. A name is given once and never to other bytes, so that one which is there in its whole length is not
 * copied again.
 * @param from,to the store of a file, by what its row says; undefined where there is none
 * @param onBytes told how many bytes are done
 */
export async function copyFiles(
  files: AsyncIterable<NamedFile> | Iterable<NamedFile>,
  { from, to }: { from: Stores; to: Stores },
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Copied> {
  const missing: string[] = []
  let [count, bytes] = [0, 0]
  for await (const { store, storageName, size } of files) {
    const length = sealedLength(size)
    const [source, target] = [from.of(store), to.of(store)]
    const there = await target?.get(storageName)
    if (there?.bytes !== length) {
      const file = await source?.get(storageName)
      if (!file || !target || file.bytes !== length) {
        missing.push(storageName)
        continue
      }
      // What an earlier copy left of it half-way is in the way of another one.
      await target.delete(storageName)
      if (!(await isPut(target, storageName, file))) {
        missing.push(storageName)
        continue
      }
    }
    count++
    bytes += length
    onBytes(bytes)
  }
  return { files: count, bytes, missing }
}

/** Whether a file could be copied: one that is removed meanwhile, by a server that goes on, is missing and no reason to end. */
async function isPut(target: DocumentStore, name: string, file: KeptDocument): Promise<boolean> {
  try {
    await target.put(name, file.chunks())
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return false
    throw error
  }
}

/** Removes what is there under names that nobody has. */
export async function dropOthers(store: DocumentStore, names: ReadonlySet<string>): Promise<void> {
  const others: string[] = []
  for await (const { name } of store.list()) if (!names.has(name)) others.push(name)
  for (const name of others) await store.delete(name)
}
