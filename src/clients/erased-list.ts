import { open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ErasedList } from '../core/erased-list.ts'
import { codeOf, makeDirectory, statOf, syncDirectory } from './atomic-files.ts'

const lineFeed = 10

/**
 * Creates the list of erased customers in the data directory, which only its owner can read. A line that a crash left
 * incomplete is ignored.
 */
export function createErasedList(dataDir: string): ErasedList {
  const path = `${dataDir}/erased.jsonl`
  return {
    path,
    isThere: async () => (await statOf(path)) !== undefined,
    async read() {
      const text = await readFile(path, 'utf8').catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error
        return undefined
      })
      return text?.split('\n').filter((line) => line !== '')
    },
    async append(lines) {
      if (lines.length === 0) return
      await makeDirectory(dirname(path))
      const file = await open(path, 'a+', 0o600)
      try {
        const { size } = await file.stat()
        const last = Buffer.alloc(1)
        if (size > 0) await file.read(last, 0, 1, size - 1)
        const isTorn = size > 0 && last[0] !== lineFeed
        await file.appendFile(`${isTorn ? '\n' : ''}${lines.join('')}`)
        await file.sync()
        if (size === 0) await syncDirectory(dirname(path))
      } finally {
        await file.close()
      }
    },
  }
}
