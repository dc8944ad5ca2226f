/** Files that have a name of their own until they are whole, and what processes that were killed have left of such files. */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Whatever its owner does, nobody writes to it any more. */
const abandonedMs = 24 * 60 * 60 * 1000
/** `TARGET.PID-START.tmp`; of versions before, `TARGET.PID.tmp`. SQLite keeps a journal beside one. */
const pattern = /^(.+)\.(\d{1,10})(?:-(\d+))?\.tmp(?:-journal)?$/

/** When a process began, in ticks since the machine did: tells it from a later one with its number. Undefined where the system does not tell. */
function startOf(pid: number): string | undefined {
  try {
    // The name in parentheses may hold spaces.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

const ownStart = startOf(process.pid) ?? '0'

/** The name that this process gives a file until it is whole. Of two targets it is two. */
export const temporaryOf = (target: string): string => `${target}.${process.pid}-${ownStart}.tmp`

/**
 * A name for a file until it is whole, in the folder of `target`. Removes what processes that are gone have left in that folder under such names; the files of
 * processes that live stay.
 */
export function newTemporary(target: string): string {
  removeRemains(dirname(target), (found, start) => start !== undefined || found === basename(target))
  const temporary = temporaryOf(target)
  for (const ending of ['', '-journal']) rmSync(`${temporary}${ending}`, { force: true })
  return temporary
}

/** @param isOurs tells by what a file was to be called, and by the start of its process where its name says it, whether it may be removed */
export function removeRemains(folder: string, isOurs: (target: string, start: string | undefined) => boolean): void {
  for (const name of namesIn(folder)) {
    const [, target, pid, start] = pattern.exec(name) ?? []
    if (target === undefined || pid === undefined || !isOurs(target, start)) continue
    const path = join(folder, name)
    // Without the start of its process a name may be another program's: its process decides alone.
    if (!isAlive(Number(pid), start) || (start !== undefined && isOld(path))) rmSync(path, { force: true })
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // It is not there, or not ours to read: what is to be written says so.
    return []
  }
}

function isAlive(pid: number, start: string | undefined): boolean {
  if (pid === process.pid && start === undefined) return false
  const startNow = startOf(pid)
  if (startNow !== undefined) return start === undefined || start === '0' || start === startNow
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

const isOld = (path: string): boolean => {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs > abandonedMs
}
