import { readdirSync, readFileSync } from 'node:fs'

/** Returns how many files and sockets the process has open and may open; undefined if unknown. */
export function openFiles(): { open: number; max: number } | undefined {
  try {
    // Does not count the file descriptor that lists the others.
    const open = readdirSync('/proc/self/fd').length - 1
    max ??= Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Number.POSITIVE_INFINITY)
    return { open, max }
  } catch {
    return undefined
  }
}
let max: number | undefined
