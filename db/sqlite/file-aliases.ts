/** Whether a database file is open under another name: a hard link, or a mount of the one file. */
import { readFileSync, realpathSync, statSync } from 'node:fs'

export type LockTable = {
  /** The text of `/proc/locks`. @throws where the system has none */
  read: () => string
  pause: (ms: number) => void
}

const linux: LockTable = { read: () => readFileSync('/proc/locks', 'utf8'), pause: (ms) => Bun.sleepSync(ms) }

const readingsMax = 20
const agreeing = 3
const betweenMs = 5

/**
 * A process that has the file open under a name that is not ours; undefined where there is none, or the system does not tell.
 * SQLite's locks belong to the file and not to its name, but its log lies beside the name: two logs would ruin the file. Whoever
 * has it open by our name holds a lock on our `-shm` as well.
 *
 * Linux reads the table in pieces, and lines shift between them as other processes take and give back locks: one
 * reading may lack a line. So a process counts only where several readings in a row name it; where readings go on to
 * differ, the last one counts.
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

/** The process of one reading of the table that holds a lock on the file, and none on the `-shm` of our name. */
function strangerIn(locks: readonly Lock[], real: string): number | undefined {
  const ours = holders(locks, `${real}-shm`)
  for (const pid of holders(locks, real)) if (pid !== process.pid && !ours.has(pid)) return pid
  return undefined
}

type Lock = { pid: number; on: string }

/** The locks of Linux, as in `1: POSIX  ADVISORY  READ 1234 fe:00:5678 0 EOF`; empty elsewhere. */
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

function holders(locks: readonly Lock[], file: string): Set<number> {
  const key = lockKeyOf(file)
  return new Set(key === undefined ? [] : locks.filter(({ on }) => on === key).map(({ pid }) => pid))
}

/** How the table names a file; undefined where there is none. */
export function lockKeyOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true })
  return stat && `${hex(major(stat.dev))}:${hex(minor(stat.dev))}:${stat.ino}`
}

const hex = (part: bigint) => part.toString(16).padStart(2, '0')
/** The halves of a device number, as Linux packs them. */
const major = (device: bigint) => ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn)
const minor = (device: bigint) => (device & 0xffn) | ((device >> 12n) & ~0xffn)
