import { opendir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type DocumentStore, isDocumentName } from '../../core/documents.ts'
import { AppError } from '../../core/errors.ts'
import { codeOf, freeOf, isFull, readChunks, statOf, writeAtomically } from '../atomic-files.ts'

const retrySeconds = 5
/** The suffix of incomplete files. */
const unfinished = '.tmp'

const diskFullOptions = { retryAfterSeconds: retrySeconds }

/**
 * Creates a store of documents in a directory that only its owner can read. A file gets its name once it is on the
 * disk.
 * @param directory created with the first file
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
        return await writeAtomically(path, `${path}${unfinished}`, chunks)
      } catch (error) {
        await rm(path, { force: true }).catch(() => undefined)
        throw isFull(error) ? new AppError('UNAVAILABLE', 'The disk is full: nothing was changed, try again later', diskFullOptions) : error
      }
    },
    async get(name) {
      const path = pathOf(name)
      const stats = await statOf(path)
      return stats && { bytes: stats.size, chunks: () => readChunks(path, 'No such document') }
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
        // Files of others are not listed.
        if (!isDocumentName(name)) continue
        const stats = await statOf(join(directory, file))
        if (stats) yield { name, bytes: stats.size, at: stats.mtimeMs }
      }
    },
    free: () => freeOf(directory),
  }
}
