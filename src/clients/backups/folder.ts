import { randomBytes } from 'node:crypto'
import { link, readdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type BackupStore, isBackupName, type ListedCopy, unfinishedSuffix } from '../../core/backup-store.ts'
import { AppError, OperatorError } from '../../core/errors.ts'
import { codeOf, freeOf, isFull, makeDirectory, readChunks, statOf, syncDirectory, writeAtomically } from '../atomic-files.ts'

const retryAfterSeconds = 5
/** Temporary files that were not written to for this long are removed. */
const abandonedMs = 24 * 60 * 60 * 1000

/**
 * Creates a store of backups in a folder that only its owner can read. A file gets its name once it is on the disk.
 * @param directory created with the first file; its parent must exist, since a missing one means that a disk is not
 * mounted
 * @param now milliseconds since the epoch
 */
export function createFolderStore(directory: string, now: () => number): BackupStore {
  const root = directory
  const pathOf = (name: string): string => {
    if (!isBackupName(name)) throw new Error('not a name of a copy')
    return resolve(root, name)
  }

  async function confirmMounted(): Promise<void> {
    const parent = dirname(resolve(root))
    if (!(await statOf(root)) && !(await statOf(parent)))
      throw new OperatorError(`Directory not found: ${parent}. Is the disk for ${root} mounted?`)
  }

  /** Depth first, in the byte order of complete names. A folder sorts with its slash. */
  async function* walk(folder: string, prefix: string): AsyncGenerator<ListedCopy> {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
      return []
    })
    const namedEntries = entries.map((entry) => ({ entry, name: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}` }))
    for (const { entry, name } of namedEntries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.isDirectory()) {
        if (name.startsWith(prefix) || prefix.startsWith(name)) yield* walk(name, prefix)
        continue
      }
      if (!entry.isFile() || !name.startsWith(prefix)) continue
      const stats = await statOf(join(root, name))
      if (!stats) continue
      if (isBackupName(name)) yield { name, bytes: stats.size, at: stats.mtimeMs }
      else if (
        name.endsWith(unfinishedSuffix) &&
        isBackupName(name.slice(0, -unfinishedSuffix.length)) &&
        now() - stats.mtimeMs > abandonedMs
      )
        await rm(join(root, name), { force: true })
    }
  }

  return {
    kind: 'FOLDER',
    place: root,
    async put(name, chunks) {
      const path = pathOf(name)
      await confirmMounted()
      try {
        // A random name, so that a link placed there by someone else is not followed.
        return await writeAtomically(path, `${path}.${randomBytes(6).toString('hex')}${unfinishedSuffix}`, chunks)
      } catch (error) {
        throw isFull(error)
          ? new AppError('UNAVAILABLE', `The disk is full: ${root}. Free some space on it`, { retryAfterSeconds, cause: error })
          : error
      }
    },
    async adopt(name, path) {
      const target = pathOf(name)
      await confirmMounted()
      await makeDirectory(dirname(target))
      try {
        await link(path, target)
      } catch {
        // Another disk, a disk without links, or the name is taken.
        return false
      }
      await syncDirectory(dirname(target))
      return true
    },
    async get(name) {
      const path = pathOf(name)
      const stats = await statOf(path)
      // Reading a pipe would never end.
      return stats?.isFile() ? { bytes: stats.size, chunks: () => readChunks(path, 'No such copy') } : undefined
    },
    async delete(name) {
      const path = pathOf(name)
      await rm(path, { force: true })
      for (let folder = dirname(path); folder !== resolve(root); folder = dirname(folder)) if (!(await removeEmpty(folder))) return
    },
    list: (prefix) => walk('', prefix),
    async free() {
      await confirmMounted()
      return freeOf(root)
    },
  }
}

/** Removes empty folders. */
async function removeEmpty(folder: string): Promise<boolean> {
  const entries = await readdir(folder).catch(() => undefined)
  if (entries?.length !== 0) return false
  await rm(folder, { recursive: true, force: true })
  await syncDirectory(dirname(folder))
  return true
}
