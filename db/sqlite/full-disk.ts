/** A start on a full disk: moving the log into the file needs a little room, which a reserve gives. */
import { Database as Sqlite } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { removeSpool } from './log-spool.ts'

const megabyte = 1024 * 1024
/** SQLite needs some for the index of the log (`-shm`): 2 MB for a log of 1 GB. */
const roomMinBytes = 8 * megabyte
const reserveBytes = 16 * megabyte
/** The reserve is made where so many times as much is free. */
const reserveShare = 8

const reserveOf = (file: string): string => `${file}-reserve`
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

function freeBeside(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize
}

/** Reserves some room on the disk, which a start on a full disk gives up. File systems that compress would store zeros in no room. */
export function keepReserve(file: string, bytes = reserveBytes): void {
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
 * On a full disk, removes the reserve, and moves the log into the file. That needs no `-shm`, for which there may be no room. Nobody else may
 * have the file open.
 * @returns whether it moved a log
 */
export function foldOnFullDisk(file: string): boolean {
  if (freeBeside(file) >= roomMinBytes) return false
  rmSync(reserveOf(file), { force: true })
  if (sizeOf(`${file}-wal`) === 0) return false
  if (isFolded(file)) return true
  // What was not shipped is in the log and in the file as well; shipping begins anew.
  removeSpool(file)
  return isFolded(file)
}

function isFolded(file: string): boolean {
  try {
    using connection = new Sqlite(file, { readwrite: true })
    connection.run('PRAGMA locking_mode = EXCLUSIVE')
    return connection.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0
  } catch {
    // The start says why it cannot open the file.
    return false
  }
}
