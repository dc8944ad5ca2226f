/** Copies of a SQLite file: whole, checked and on the disk before they get their name. */
import { Database as Sqlite } from 'bun:sqlite'
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseRefused } from '../engine.ts'

const problemsMax = 20
const watchMs = 200

/** What SQLite finds wrong with a file, in its own words; nothing when it is sound. */
export function problemsOf(connection: Sqlite): string[] {
  const damage = connection
    .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${problemsMax})`)
    .all()
    .map((row) => row.integrity_check)
    .filter((text) => text !== 'ok')
  const dangling = connection
    .query<{ table: string; parent: string }, []>('SELECT DISTINCT "table", parent FROM pragma_foreign_key_check')
    .all()
    .map(({ table, parent }) => `rows of ${table} refer to rows of ${parent} that are not there`)
  return [...damage, ...dangling]
}

/**
 * Copies what `connection` sees into a new file beside `target`, for the owner alone, and checks the copy.
 * @returns the path of the copy, to be handed to `publish`
 */
export function copyInto(connection: Sqlite, target: string): string {
  removeAbandoned(target)
  const temporary = temporaryOf(target)
  // VACUUM INTO takes an empty file, which keeps the mode that it was made with.
  closeSync(openSync(temporary, 'wx', 0o600))
  try {
    connection.run('VACUUM INTO ?', [temporary])
    assertSound(temporary)
    syncPath(temporary)
    return temporary
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function assertSound(file: string): void {
  using copy = new Sqlite(file, { readonly: true })
  const problems = problemsOf(copy)
  if (problems.length > 0) throw new DatabaseRefused(`the copy is damaged, so the database is: ${problems.join('; ')}`)
}

/** Gives a finished copy its name, replacing what had it. Where that fails, the copy is gone. */
export function publish(temporary: string, target: string): void {
  try {
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncPath(dirname(target))
}

/** Makes a directory, and those above it, for the owner alone; their names are on the disk when it returns. */
export function makeDirectory(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const firstLength = resolve(first).length
  for (let made = resolve(path); made.length >= firstLength; made = dirname(made)) syncPath(dirname(made))
}

/** Waits until a file, or the entries of a directory, are on the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Named by its process, so that two at work never write to one file. */
const temporaryOf = (target: string) => `${target}.${process.pid}.tmp`

/** Removes the unfinished copies of processes that are gone. */
function removeAbandoned(target: string): void {
  const folder = dirname(target)
  const start = `${basename(target)}.`
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(start) ? /^(\d+)\.tmp$/.exec(name.slice(start.length))?.[1] : undefined
    if (pid !== undefined && (Number(pid) === process.pid || !isRunning(Number(pid)))) rmSync(join(folder, name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

export type CopyOrder = { source: string; target: string }
export type CopyAnswer = { temporary: string } | { failed: string; ours: boolean; code: string | undefined }

/**
 * `copyInto` in a thread of its own, from a read-only connection: nobody waits for it, however large the file.
 * @param onBytes told now and then how large the copy is
 */
export async function copyInWorker(order: CopyOrder, onBytes: (bytes: number) => void = () => undefined): Promise<string> {
  const worker = new Worker(workerUrl())
  const watch = setInterval(() => onBytes(statSync(temporaryOf(order.target), { throwIfNoEntry: false })?.size ?? 0), watchMs)
  try {
    const answer = await new Promise<CopyAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<CopyAnswer>) => resolve(data)
      worker.onerror = ({ message }) => reject(new Error(message))
      worker.postMessage(order)
    })
    if ('temporary' in answer) return answer.temporary
    throw answer.ours ? new DatabaseRefused(answer.failed) : Object.assign(new Error(answer.failed), { code: answer.code })
  } finally {
    clearInterval(watch)
    worker.terminate()
  }
}

/** In the compiled program the worker lies beside the entry, by its path in the source tree; see the build script. */
const workerUrl = () =>
  (import.meta.url.endsWith('/db/sqlite/copy.ts')
    ? new URL('./copy-worker.ts', import.meta.url)
    : new URL('./db/sqlite/copy-worker.js', import.meta.url)
  ).href
