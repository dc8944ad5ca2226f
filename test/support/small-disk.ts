/** Disks of a few megabytes that tests fill up. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { engine } from '../../db/columns.ts'
import { temporaryDir } from './database.ts'

const mounted: string[] = []

/** Mounts a disk of a few megabytes. Returns its folder, or undefined if this process may not mount one. */
export function mountSmallDisk(megabytes: number): string | undefined {
  const dir = temporaryDir()
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `mode=700,size=${megabytes}m`, 'tmpfs', dir], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  if (exitCode !== 0) return undefined
  mounted.push(dir)
  return dir
}

/** Returns whether tests can fill a disk: the engine is SQLite, and disks can be mounted. Prints why not. */
export function canFillDisks(): boolean {
  if (engine !== 'sqlite') return false
  if (mountSmallDisk(1)) return true
  process.stdout.write('skipped: a full disk cannot be tried, because this process may not mount a small one\n')
  return false
}

export function unmountDisks(): void {
  for (const dir of mounted.splice(0)) Bun.spawnSync(['umount', '-l', dir])
}

/** Writes a file until the disk is full. */
export function fillDisk(file: string): void {
  const descriptor = openSync(file, 'w')
  for (const bytes of [65_536, 4_096])
    try {
      while (writeSync(descriptor, new Uint8Array(bytes)) === bytes);
    } catch {
      // The disk is full now.
    }
  closeSync(descriptor)
}
