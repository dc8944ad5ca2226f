import { readdirSync, readFileSync } from 'node:fs'

/** How many files, sockets and the like the process has open, and may have; undefined where the system does not say. */
export function openFiles(): { open: number; max: number } | undefined {
  try {
    // The one by which they are counted is one of them.
    const open = readdirSync('/proc/self/fd').length - 1
    max ??= Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Number.POSITIVE_INFINITY)
    return { open, max }
  } catch {
    return undefined
  }
}
let max: number | undefined
