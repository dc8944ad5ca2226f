/** Copies a SQLite file. A copy is complete, checked and durable before it gets its name. */
import { Database as Sqlite } from 'bun:sqlite'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseRefused, engineErrorCode, type FileFigures, type NamedDocument } from '../engine.ts'
import { newTemporary, temporaryOf } from '../temporary-files.ts'
import { danglingIn } from './copy-manifest.ts'
import { withPath } from './open-failure.ts'
import { startWorker } from './worker.ts'

const problemsMax = 20
const watchMs = 200
/** Interval of syncs of a growing copy. */
const syncEveryMs = 250

/** Returns the problems of SQLite's quick check, which skips index contents. */
export const quickProblemsOf = (connection: Sqlite): string[] => damageOf(connection, 'quick_check')

const damageOf = (connection: Sqlite, check: 'quick_check' | 'integrity_check'): string[] =>
  connection
    .query<Record<string, string>, []>(`PRAGMA ${check}(${problemsMax})`)
    .all()
    .flatMap((row) => Object.values(row))
    .filter((text) => text !== 'ok')

/** Returns the problems of a file; empty if it is sound. */
export function problemsOf(connection: Sqlite): string[] {
  return [...damageOf(connection, 'integrity_check'), ...danglingIn(connection)]
}

/**
 * Copies a database into a new private file beside `target`, and checks it.
 * @param onCopied called before the check
 * @returns the path, for `publish`
 */
export function copyInto(connection: Sqlite, target: string, onCopied: () => void = () => undefined): string {
  const temporary = newTemporary(target)
  // VACUUM INTO accepts an empty file and keeps its mode.
  closeSync(openSync(temporary, 'wx', 0o600))
  try {
    connection.run('VACUUM INTO ?', [temporary])
    onCopied()
    assertSound(temporary)
    syncPath(temporary)
    return temporary
  } catch (error) {
    rmSync(temporary, { force: true })
    throw engineErrorCode(error) === 'SQLITE_FULL' ? withPath(error, target) : error
  }
}

function assertSound(file: string): void {
  using copy = new Sqlite(file, { readonly: true })
  const problems = problemsOf(copy)
  if (problems.length > 0) throw new DatabaseRefused(`the database is damaged: ${problems.join('; ')}`)
}

/** Renames a finished copy, replacing the target. Deletes it on errors. */
export function publish(temporary: string, target: string): void {
  try {
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncPath(dirname(target))
}

/** Creates a private directory with its parents, durably. */
export function makeDirectory(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const firstLength = resolve(first).length
  for (let made = resolve(path); made.length >= firstLength; made = dirname(made)) syncPath(dirname(made))
}

/** Syncs a file or a directory. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** What the copy thread does with a database file. */
export type CopyOrder = {
  source: string
  /** Without a target the file is only checked or read. */
  target?: string
  /** `figures`: also counts the copy, at low priority. `documents`, `quick`: replace the check. */
  what?: 'figures' | 'documents' | 'quick'
}
/** The result of the copy thread. `ours`: the error is a DatabaseRefused with advice for the operator. */
export type CopyAnswer =
  | { temporary: string; figures?: FileFigures }
  | { problems: string[] }
  | { documents: NamedDocument[] }
  | { failed: string; ours: boolean; code: string | undefined; path: string | undefined }

/** Progress callbacks. */
type CopyWatch = {
  /** Size of the copy. */
  onBytes?: (bytes: number) => void
  /** The copy is complete; its check starts. */
  onCopied?: () => void
}

/**
 * Runs `copyInto` in a thread with a read-only connection.
 * @returns the path, for `publish`
 */
export async function copyInWorker(order: { source: string; target: string }, watch: CopyWatch = {}): Promise<string> {
  return (await copied(order, watch)).temporary
}

/** Does `copyInWorker` at the lowest priority, and returns the metadata of the copy. */
export async function describedCopyInWorker(
  order: { source: string; target: string },
  onBytes: (bytes: number) => void = () => undefined,
): Promise<{ temporary: string; figures: FileFigures }> {
  const { temporary, figures } = await copied({ ...order, what: 'figures' }, { onBytes })
  if (!figures) throw new Error('the copy was not counted')
  return { temporary, figures }
}

async function copied(
  order: CopyOrder & { target: string },
  { onBytes = () => undefined, onCopied = () => undefined }: CopyWatch,
): Promise<{ temporary: string; figures?: FileFigures }> {
  const { target } = order
  const watch = setInterval(() => onBytes(statSync(temporaryOf(target), { throwIfNoEntry: false })?.size ?? 0), watchMs)
  const syncing = syncNowAndThen(temporaryOf(target))
  const onCopyDone = () => {
    clearInterval(watch)
    syncing.end()
    onCopied()
  }
  try {
    const answer = await inWorker(order, onCopyDone)
    if ('temporary' in answer) return answer
    throw new Error('the copy was not made')
  } finally {
    clearInterval(watch)
    syncing.end()
  }
}

/**
 * Syncs a growing file in small steps. One sync at the end would delay every commit, because an ext4 sync waits for
 * writes of other files.
 */
function syncNowAndThen(path: string): { end(): void } {
  let isSyncing = false
  async function sync(): Promise<void> {
    if (isSyncing) return
    isSyncing = true
    try {
      await using file = await open(path, 'r')
      await file.datasync()
    } catch {
      // The file may not exist yet or any more; the final sync is elsewhere.
    } finally {
      isSyncing = false
    }
  }
  const timer = setInterval(() => void sync(), syncEveryMs)
  return { end: () => clearInterval(timer) }
}

/** Lists the files that a database refers to, in a thread. */
export async function documentsInWorker(file: string): Promise<NamedDocument[]> {
  const answer = await inWorker({ source: file, what: 'documents' })
  if ('documents' in answer) return answer.documents
  throw new Error('the file was not read')
}

/** Checks a file in a thread. */
export async function problemsInWorker(file: string, what?: 'quick'): Promise<string[]> {
  const answer = await inWorker({ source: file, ...(what ? { what } : {}) })
  if ('problems' in answer) return answer.problems
  throw new Error('the file was not checked')
}

async function inWorker(order: CopyOrder, onCopied: () => void = () => undefined): Promise<CopyAnswer> {
  const worker = startWorker('copy-worker')
  try {
    const answer = await new Promise<CopyAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<CopyAnswer | 'copied'>) => (data === 'copied' ? onCopied() : resolve(data))
      worker.onerror = ({ message }) => reject(new Error(message))
      worker.postMessage(order)
    })
    if (!('failed' in answer)) return answer
    const { failed, ours, code, path } = answer
    throw ours ? new DatabaseRefused(failed) : Object.assign(new Error(failed), { code, path })
  } finally {
    worker.terminate()
  }
}

/** Deletes the copy in progress, for a process that ends at once. */
export function dropUnfinished(target: string): void {
  const drop = () => {
    for (const ending of ['', '-journal']) rmSync(`${temporaryOf(target)}${ending}`, { force: true })
  }
  drop()
  // The thread cannot be stopped and may just have created the file.
  Bun.sleepSync(dropAgainMs)
  drop()
}

const dropAgainMs = 100
