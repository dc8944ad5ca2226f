import { type FileHandle, mkdir, open, opendir, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type DocumentStore, isDocumentName } from '../../core/documents.ts'
import { AppError } from '../../core/errors.ts'

const readBytes = 64 * 1024
const retrySeconds = 5
/** What is not whole has this ending. */
const unfinished = '.tmp'

const codeOf = (error: unknown) => (error as { code?: string }).code

/**
 * Files of one directory, for its owner alone. Written under a name of their own, on the disk before they get the one they are known by.
 * @param directory made when the first file comes
 */
export function createFileStore(directory: string): DocumentStore {
  const pathOf = (name: string): string => {
    if (!isDocumentName(name)) throw new Error('not a name of a document')
    return join(directory, name)
  }

  async function write(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    await make(directory)
    const temporary = `${path}${unfinished}`
    const file = await open(temporary, 'wx', 0o600)
    try {
      let bytes = 0
      for await (const chunk of chunks) {
        await writeAll(file, chunk)
        bytes += chunk.length
      }
      await file.sync()
      await file.close()
      await rename(temporary, path)
      await syncDirectory(directory)
      return bytes
    } catch (error) {
      await file.close().catch(() => undefined)
      await Promise.all([rm(temporary, { force: true }), rm(path, { force: true })]).catch(() => undefined)
      throw error
    }
  }

  async function* read(path: string): AsyncGenerator<Uint8Array> {
    const file = await open(path, 'r').catch((error: unknown) => {
      throw codeOf(error) === 'ENOENT' ? new AppError('NOT_FOUND', 'No such document') : error
    })
    try {
      const buffer = Buffer.allocUnsafeSlow(readBytes)
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, readBytes)
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  }

  return {
    kind: 'FILES',
    async put(name, chunks) {
      const path = pathOf(name)
      try {
        return await write(path, chunks)
      } catch (error) {
        throw isFull(error) ? new AppError('UNAVAILABLE', 'The disk is full: nothing was changed, try again later', full) : error
      }
    },
    async get(name) {
      const path = pathOf(name)
      const found = await statOf(path)
      return found && { bytes: found.size, chunks: () => read(path) }
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
    async free() {
      await make(directory)
      const { bavail, bsize } = await statfs(directory)
      return bavail * bsize
    },
  }
}

const full = { retryAfterSeconds: retrySeconds }
const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')

const statOf = (path: string) =>
  stat(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
    return undefined
  })

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at, chunk.length - at)).bytesWritten
}

/** Makes a directory, and those above it; their names are on the disk when it returns, as the files in it will be. */
async function make(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = resolve(directory); made.length >= resolve(first).length; made = dirname(made)) await syncDirectory(dirname(made))
}

/** Waits until the names in a directory are on the disk. */
async function syncDirectory(directory: string): Promise<void> {
  const folder = await open(directory, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
