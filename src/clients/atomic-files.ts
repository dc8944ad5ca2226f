/** Reads and writes complete files for the stores of documents and backups. */
import { statSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { AppError } from '../core/errors.ts'

const readBytes = 64 * 1024

/** Returns the code of a system error, such as `ENOENT`; undefined for other errors. */
export const codeOf = (error: unknown) => (error as { code?: string }).code
/** Returns whether the disk or the quota is full. */
export const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')

/** Returns undefined if there is no such file. */
export const statOf = (path: string) =>
  stat(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
    return undefined
  })

/**
 * Writes a file under a temporary name that only its owner can read, and renames it once it is on the disk.
 * @param temporary must not exist
 * @returns the number of bytes
 * @throws errors of the chunks and of the disk; the temporary file is then removed
 */
export async function writeAtomically(path: string, temporary: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const directory = dirname(path)
  await makeDirectory(directory)
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
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

/**
 * Reads a file in chunks.
 * @throws AppError NOT_FOUND with the message `missing`
 */
export async function* readChunks(path: string, missing: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw codeOf(error) === 'ENOENT' ? new AppError('NOT_FOUND', missing) : error
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

/** Returns the free bytes on the disk of a directory, which is created. */
export async function freeOf(directory: string): Promise<number> {
  await makeDirectory(directory)
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** Returns the device of a path or of its nearest existing parent; undefined without permission. */
export function deviceOf(path: string): number | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats) return stats.dev
  } catch {
    return undefined
  }
  const parent = dirname(resolve(path))
  return parent === resolve(path) ? undefined : deviceOf(parent)
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at, chunk.length - at)).bytesWritten
}

/** Creates a directory and its parents, and syncs their names to the disk. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let created = resolve(directory); created.length >= resolve(first).length; created = dirname(created))
    await syncDirectory(dirname(created))
}

/** Syncs the names in a directory to the disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const folder = await open(directory, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
