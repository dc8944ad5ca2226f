/** Files that are whole or not there, as stores of documents and of backups write and read them. */
import { statSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { AppError } from '../core/errors.ts'

const readBytes = 64 * 1024

export const codeOf = (error: unknown) => (error as { code?: string }).code
/** Whether a disk has no room, or gives us none. */
export const isFull = (error: unknown) => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')

/** What is known of a file; undefined where there is none. */
export const statOf = (path: string) =>
  stat(path).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
    return undefined
  })

/**
 * Writes a file under another name, for its owner alone, and gives it its own once it is on the disk.
 * @param temporary refused where something has that name
 * @returns how many bytes it has
 * @throws what the chunks throw, and what the disk says; the temporary file is gone then
 */
export async function writeWhole(path: string, temporary: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const directory = dirname(path)
  await make(directory)
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

/** A file's bytes. @throws AppError NOT_FOUND, saying `missing` */
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

/** Bytes free for us on the disk of a directory, which is made. */
export async function freeOf(directory: string): Promise<number> {
  await make(directory)
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** Which disk a path is on, or would be once it is made; undefined where we may not look. */
export function deviceOf(path: string): number | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found) return found.dev
  } catch {
    return undefined
  }
  const parent = dirname(resolve(path))
  return parent === resolve(path) ? undefined : deviceOf(parent)
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at, chunk.length - at)).bytesWritten
}

/** Makes a directory, and those above it; their names are on the disk when it returns, as the files in it will be. */
export async function make(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = resolve(directory); made.length >= resolve(first).length; made = dirname(made)) await syncDirectory(dirname(made))
}

/** Waits until the names in a directory are on the disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const folder = await open(directory, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
