/** Records where the log ended before it restarted, and detects later writes to the database file. */
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { isSameEnd, type LogEnd } from './log-spool.ts'

/** Longer than the precision of file times. */
const tickMs = 20

/** The end of a log generation, and the mark of the file that contains all of it. */
type LifeEnd = LogEnd & { readonly mark: string }
const lifeFileOf = (file: string): string => `${file}-life`

/** Records that the log ended there and is wholly in the file. No other connection may write meanwhile. */
export function noteLifeEnd(file: string, end: LogEnd): void {
  const mark = freshMarkOf(file)
  if (mark === undefined) return
  try {
    writeFileSync(lifeFileOf(file), JSON.stringify({ ...end, mark } satisfies LifeEnd), { mode: 0o600 })
  } catch {
    // Without it a start begins with a new copy.
  }
}

/** Returns the recorded mark of this log end; undefined otherwise. */
export function markOfLife(file: string, end: LogEnd | null): string | undefined {
  try {
    const recorded = JSON.parse(readFileSync(lifeFileOf(file), 'utf8')) as LifeEnd
    return isSameEnd(recorded, end) ? recorded.mark : undefined
  } catch {
    return undefined
  }
}

/** Identifies a file and its state by inode, size and times. */
export function markOf(file: string): string {
  const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

/** Returns a mark that every later write changes; undefined if the file system has no sub-second times. */
export function freshMarkOf(file: string): string | undefined {
  if (!isTimeExact(file)) return undefined
  setBackTime(file)
  return markOf(file)
}

/**
 * Sets the file's modification time back, because two writes within one clock tick have the same time. By path: closing
 * another descriptor of the file would drop SQLite's locks.
 */
function setBackTime(file: string): void {
  const { atimeMs, mtimeMs } = statSync(file)
  try {
    utimesSync(file, atimeMs / 1_000, (mtimeMs - tickMs) / 1_000)
  } catch {
    // The file belongs to another user.
    Bun.sleepSync(tickMs)
  }
}

/** Returns whether the file system stores fractions of a second. */
const isTimeExact = (file: string): boolean => statSync(file, { bigint: true }).mtimeNs % 1_000_000_000n !== 0n
