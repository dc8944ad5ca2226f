import { Database as Sqlite } from 'bun:sqlite'
import { rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseFile } from '../engine.ts'
import { describedCopyInWorker, documentsInWorker, makeDirectory, problemsInWorker } from './copy.ts'
import { createReserve } from './full-disk.ts'
import { markOf } from './log-end.ts'
import { followLog } from './log-follower.ts'
import { removeSpool } from './log-spool.ts'
import { pin } from './log-tail.ts'

/** Creates the background operations on a database file. They use other connections in another thread. */
export function databaseFileAt(file: string): DatabaseFile {
  let held: Sqlite | undefined
  let markWhenHeld: string | undefined
  const releaseLog = () => {
    held?.close()
    held = undefined
    markWhenHeld = undefined
  }
  return {
    ...atRest(file),
    holdLog,
    releaseLog: releaseLog,
    followLog: (shipped) => followLog(file, shipped && { ...shipped, markWhenHeld }).finally(releaseLog),
  }

  function holdLog(): void {
    if (held) return
    held = new Sqlite(file, { readonly: true })
    held.run('PRAGMA busy_timeout = 5000')
    pin(held)
    markWhenHeld = markOf(file)
  }
}

const atRest = (file: string): Omit<DatabaseFile, 'holdLog' | 'releaseLog' | 'followLog'> => ({
  async copy(target, onBytes) {
    makeDirectory(dirname(target))
    const { temporary, figures } = await describedCopyInWorker({ source: file, target }, onBytes)
    return { ...figures, path: temporary, drop: () => rmSync(temporary, { force: true }) }
  },
  documents: () => documentsInWorker(file),
  quickCheck: () => problemsInWorker(file, 'quick'),
  dropUnshipped: () => removeSpool(file),
  createReserve: () => createReserve(file),
  sizes: () => ({ bytes: sizeOf(file), logBytes: sizeOf(`${file}-wal`) }),
})

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
