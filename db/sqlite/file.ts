import { rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseFile } from '../engine.ts'
import { describedCopyInWorker, documentsInWorker, makeDirectory, problemsInWorker } from './copy.ts'
import { followLog } from './follow.ts'

/** A database file and what is done with it beside whoever writes to it: by other connections, in another thread. */
export const databaseFileAt = (file: string): DatabaseFile => ({
  async copy(target, onBytes) {
    makeDirectory(dirname(target))
    const { temporary, figures } = await describedCopyInWorker({ source: file, target }, onBytes)
    return { ...figures, path: temporary, drop: () => rmSync(temporary, { force: true }) }
  },
  documents: () => documentsInWorker(file),
  quickCheck: () => problemsInWorker(file, 'quick'),
  followLog: (kept) => followLog(file, kept),
  sizes: () => ({ bytes: sizeOf(file), logBytes: sizeOf(`${file}-wal`) }),
})

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
