/** Detects that a database file is open under another name: a hard link or another mount. */
import { readFileSync, realpathSync, statSync } from 'node:fs'

type LockTable = {
  /**
   * Returns the text of `/proc/locks`.
   * @throws on systems without it
   */
  read: () => string
  pause: (ms: number) => void
}

const linux: LockTable = { read: () => readFileSync('/proc/locks', 'utf8'), pause: (ms) => Bun.sleepSync(ms) }

const readingsMax = 20
const agreeing = 3
const betweenMs = 5

/**
 * Returns a process that has the file open under another name; undefined if none or unknown. SQLite's locks belong to
 * the file, but the log lies beside the name: two logs would destroy the file. A process with our name also locks our
 * `-shm`.
 * Linux reads the table in parts, so a reading may lack a line. A process counts only if several consecutive readings
 * name it; otherwise the last reading counts.
 */
export function openUnderAnotherName(file: string, table: LockTable = linux): number | undefined {
  let last: number | undefined
  for (let [reading, same] = [0, 0]; reading < readingsMax && same < agreeing; reading++) {
    if (reading > 0) table.pause(betweenMs)
    const found = strangerIn(locksOf(table), realpathSync(file))
    if (found === undefined) return undefined
    same = found === last ? same + 1 : 1
    last = found
  }
  return last
}

/** Returns the process that locks the file but not the `-shm` of our name. */
function strangerIn(locks: readonly Lock[], real: string): number | undefined {
  const ownHolders = lockHoldersOf(locks, `${real}-shm`)
  for (const pid of lockHoldersOf(locks, real)) if (pid !== process.pid && !ownHolders.has(pid)) return pid
  return undefined
}

type Lock = { pid: number; on: string }

/** Parses Linux locks such as `1: POSIX  ADVISORY  READ 1234 fe:00:5678 0 EOF`; empty elsewhere. */
function locksOf({ read }: LockTable): Lock[] {
  try {
    return read()
      .split('\n')
      .flatMap((line) => {
        const [, pid, on] = /^\d+: POSIX +\S+ +\S+ (\d+) ([\da-f]+:[\da-f]+:\d+) /.exec(line) ?? []
        return pid !== undefined && on !== undefined ? [{ pid: Number(pid), on }] : []
      })
  } catch {
    return []
  }
}

function lockHoldersOf(locks: readonly Lock[], file: string): Set<number> {
  const key = lockKeyOf(file)
  return new Set(key === undefined ? [] : locks.filter(({ on }) => on === key).map(({ pid }) => pid))
}

/** Returns the key of a file in the table; undefined without a file. */
export function lockKeyOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true })
  return stat && `${hex(major(stat.dev))}:${hex(minor(stat.dev))}:${stat.ino}`
}

const hex = (part: bigint) => part.toString(16).padStart(2, '0')
/** The parts of a Linux device number. */
const major = (device: bigint) => ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn)
const minor = (device: bigint) => (device & 0xffn) | ((device >> 12n) & ~0xffn)
