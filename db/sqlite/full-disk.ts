/** Starts on a full disk: checkpointing needs a little space, which a reserve file provides. */
import { Database as Sqlite } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { removeSpool } from './log-spool.ts'

const megabyte = 1024 * 1024
/** SQLite needs space for the log's index (`-shm`): 2 MB for a log of 1 GB. */
const roomMinBytes = 8 * megabyte
const reserveBytes = 16 * megabyte
/** The reserve is created if 8 times its size is free. */
const reserveShare = 8

const reserveOf = (file: string): string => `${file}-reserve`
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

function freeBeside(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize
}

/** Reserves disk space with random bytes, because compressing file systems store zeros in no space. */
export function createReserve(file: string, bytes = reserveBytes): void {
  if (sizeOf(reserveOf(file)) >= bytes || freeBeside(file) < bytes * reserveShare) return
  const descriptor = openSync(reserveOf(file), 'w', 0o600)
  try {
    for (let written = 0; written < bytes; ) written += writeSync(descriptor, randomBytes(Math.min(megabyte, bytes - written)))
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Deletes the reserve on a full disk, and checkpoints the log without a `-shm`. No other process may have the file
 * open.
 * @returns whether a log was checkpointed
 */
export function checkpointOnFullDisk(file: string): boolean {
  if (freeBeside(file) >= roomMinBytes) return false
  rmSync(reserveOf(file), { force: true })
  if (sizeOf(`${file}-wal`) === 0) return false
  if (isFolded(file)) return true
  // Unshipped frames are also in the file; shipping starts over.
  removeSpool(file)
  return isFolded(file)
}

function isFolded(file: string): boolean {
  try {
    using connection = new Sqlite(file, { readwrite: true })
    connection.run('PRAGMA locking_mode = EXCLUSIVE')
    return connection.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0
  } catch {
    // The start reports why the file cannot be opened.
    return false
  }
}
