/** Temporary files with unique names until they are complete, and the cleanup of those that killed processes left. */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Age from which a file is abandoned. */
const abandonedMs = 24 * 60 * 60 * 1000
/** `TARGET.PID-START.tmp`; older versions: `TARGET.PID.tmp`. SQLite adds a journal. */
const pattern = /^(.+)\.(\d{1,10})(?:-(\d+))?\.tmp(?:-journal)?$/

/** Returns the start time of a process in ticks since boot, which distinguishes reused pids; undefined if unknown. */
function startOf(pid: number): string | undefined {
  try {
    // The name in parentheses may contain spaces.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

const ownStart = startOf(process.pid) ?? '0'

/** Returns this process's temporary name for a target. */
export const temporaryOf = (target: string): string => `${target}.${process.pid}-${ownStart}.tmp`

/** Returns a temporary name in the folder of `target`, after deleting leftovers of dead processes there. */
export function newTemporary(target: string): string {
  removeAbandoned(dirname(target), (found, start) => start !== undefined || found === basename(target))
  const temporary = temporaryOf(target)
  for (const ending of ['', '-journal']) rmSync(`${temporary}${ending}`, { force: true })
  return temporary
}

/**
 * Deletes the temporary files of a folder that no running process completes.
 * @param isOurs decides by target name and, if known, process start whether a file may be deleted
 */
export function removeAbandoned(folder: string, isOurs: (target: string, start: string | undefined) => boolean): void {
  for (const name of namesIn(folder)) {
    const [, target, pid, start] = pattern.exec(name) ?? []
    if (target === undefined || pid === undefined || !isOurs(target, start)) continue
    const path = join(folder, name)
    // Without a start time the file may belong to another program, so only its process decides.
    if (!isAlive(Number(pid), start) || (start !== undefined && isOld(path))) rmSync(path, { force: true })
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The folder is missing or inaccessible; writing reports it.
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
