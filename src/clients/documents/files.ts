import { opendir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type DocumentStore, isDocumentName } from '../../core/documents.ts'
import { AppError } from '../../core/errors.ts'
import { codeOf, freeOf, isFull, readChunks, statOf, writeWhole } from '../whole-files.ts'

const retrySeconds = 5
/** What is not whole has this ending. */
const unfinished = '.tmp'

const full = { retryAfterSeconds: retrySeconds }

/**
 * Files of one directory, for its owner alone. Written under a name of their own, on the disk before they get the one they are known by.
 * @param directory made when the first file comes
 */
export function createFileStore(directory: string, kind: 'FILES' | 'MEDIA_FILES' = 'FILES'): DocumentStore {
  const pathOf = (name: string): string => {
    if (!isDocumentName(name)) throw new Error('not a name of a document')
    return join(directory, name)
  }

  return {
    kind,
    async put(name, chunks) {
      const path = pathOf(name)
      try {
        return await writeWhole(path, `${path}${unfinished}`, chunks)
      } catch (error) {
        await rm(path, { force: true }).catch(() => undefined)
        throw isFull(error) ? new AppError('UNAVAILABLE', 'The disk is full: nothing was changed, try again later', full) : error
      }
    },
    async get(name) {
      const path = pathOf(name)
      const found = await statOf(path)
      return found && { bytes: found.size, chunks: () => readChunks(path, 'No such document') }
    },
    async delete(name) {
      const path = pathOf(name)
      await Promise.all([rm(path, { force: true }), rm(`${path}${unfinished}`, { force: true })])
    },
    async *list() {
      const folder = await opendir(directory).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error
        return undefined
      })
      if (!folder) return
      for await (const { name: file } of folder) {
        const name = file.endsWith(unfinished) ? file.slice(0, -unfinished.length) : file
        // What somebody else has put there is not ours to remove.
        if (!isDocumentName(name)) continue
        const found = await statOf(join(directory, file))
        if (found) yield { name, bytes: found.size, at: found.mtimeMs }
      }
    },
    free: () => freeOf(directory),
  }
}
