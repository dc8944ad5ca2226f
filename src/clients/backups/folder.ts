import { randomBytes } from 'node:crypto'
import { link, readdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type BackupStore, isBackupName, type ListedCopy, unfinished } from '../../core/backup-store.ts'
import { AppError, OperatorError } from '../../core/errors.ts'
import { codeOf, freeOf, isFull, make, readChunks, statOf, syncDirectory, writeWhole } from '../whole-files.ts'

const retryAfterSeconds = 5
/** What nobody has written to for so long, nobody writes. */
const abandonedMs = 24 * 60 * 60 * 1000

/**
 * A folder for copies of an instance, for its owner alone. Files have another name until they are on the disk.
 * @param directory made when the first file comes, in a folder that is there: one that is not is a disk that is not mounted
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
      throw new OperatorError(`${parent} is not there, and so nothing can be put into ${root}: is it mounted?`)
  }

  /** Depth first, in the order of the bytes of whole names: a folder stands where its slash stands. */
  async function* walk(folder: string, prefix: string): AsyncGenerator<ListedCopy> {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
      return []
    })
    const named = entries.map((entry) => ({ entry, name: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}` }))
    for (const { entry, name } of named.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.isDirectory()) {
        if (name.startsWith(prefix) || prefix.startsWith(name)) yield* walk(name, prefix)
        continue
      }
      if (!entry.isFile() || !name.startsWith(prefix)) continue
      const found = await statOf(join(root, name))
      if (!found) continue
      if (isBackupName(name)) yield { name, bytes: found.size, at: found.mtimeMs }
      else if (name.endsWith(unfinished) && isBackupName(name.slice(0, -unfinished.length)) && now() - found.mtimeMs > abandonedMs)
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
        // A name that nobody has: what another has put there, a link to somewhere else, is not written through.
        return await writeWhole(path, `${path}.${randomBytes(6).toString('hex')}${unfinished}`, chunks)
      } catch (error) {
        throw isFull(error)
          ? new AppError('UNAVAILABLE', `The disk is full: ${root}. Make room there`, { retryAfterSeconds, cause: error })
          : error
      }
    },
    async adopt(name, path) {
      const target = pathOf(name)
      await confirmMounted()
      await make(dirname(target))
      try {
        await link(path, target)
      } catch {
        // Another disk, or one without links, or another file has the name.
        return false
      }
      await syncDirectory(dirname(target))
      return true
    },
    async get(name) {
      const path = pathOf(name)
      const found = await statOf(path)
      // What is no file, as a pipe, would never be read to its end.
      return found?.isFile() ? { bytes: found.size, chunks: () => readChunks(path, 'No such copy') } : undefined
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

/** Removes a folder that nothing is in any more. */
async function removeEmpty(folder: string): Promise<boolean> {
  const left = await readdir(folder).catch(() => undefined)
  if (left?.length !== 0) return false
  await rm(folder, { recursive: true, force: true })
  await syncDirectory(dirname(folder))
  return true
}
