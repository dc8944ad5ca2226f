/** Whether a database file is open under another name: a hard link, or a mount of the one file. */
import { readFileSync, realpathSync, statSync } from 'node:fs'

/**
 * A process that has the file open under a name that is not ours; undefined where there is none, or the system does not tell.
 * SQLite's locks belong to the file and not to its name, but its log lies beside the name: two logs would ruin the file. Whoever
 * has it open by our name holds a lock on our `-shm` as well.
 */
export function openUnderAnotherName(file: string): number | undefined {
  const locks = locksOf()
  const real = realpathSync(file)
  const ours = holders(locks, `${real}-shm`)
  for (const pid of holders(locks, real)) if (pid !== process.pid && !ours.has(pid)) return pid
  return undefined
}

/** The locks of Linux, as in `1: POSIX  ADVISORY  READ 1234 fe:00:5678 0 EOF`; empty elsewhere. */
function locksOf(): { pid: number; on: string }[] {
  try {
    const lines = readFileSync('/proc/locks', 'utf8').split('\n')
    return lines.flatMap((line) => {
      const [, pid, on] = /^\d+: POSIX +\S+ +\S+ (\d+) ([\da-f]+:[\da-f]+:\d+) /.exec(line) ?? []
      return pid !== undefined && on !== undefined ? [{ pid: Number(pid), on }] : []
    })
  } catch {
    return []
  }
}

function holders(locks: readonly { pid: number; on: string }[], file: string): Set<number> {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true })
  if (!stat) return new Set()
  const key = `${hex(major(stat.dev))}:${hex(minor(stat.dev))}:${stat.ino}`
  return new Set(locks.filter(({ on }) => on === key).map(({ pid }) => pid))
}

const hex = (part: bigint) => part.toString(16).padStart(2, '0')
/** The halves of a device number, as Linux packs them. */
const major = (device: bigint) => ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn)
const minor = (device: bigint) => (device & 0xffn) | ((device >> 12n) & ~0xffn)
