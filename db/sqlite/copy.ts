/** Copies of a SQLite file: whole, checked and on the disk before they get their name. */
import { Database as Sqlite } from 'bun:sqlite'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseRefused, engineErrorCode, type FileFigures, type NamedDocument } from '../engine.ts'
import { newTemporary, temporaryOf } from '../temporary-files.ts'
import { danglingIn } from './copy-manifest.ts'
import { withPath } from './open-failure.ts'

const problemsMax = 20
const watchMs = 200
/** How long a copy that is being written goes on before what there is of it is brought to the disk. */
const syncEveryMs = 250

/** What SQLite finds wrong with the pages and rows of a file, in its own words, without a look at what its indexes lack. */
export const quickProblemsOf = (connection: Sqlite): string[] => damageOf(connection, 'quick_check')

const damageOf = (connection: Sqlite, check: 'quick_check' | 'integrity_check'): string[] =>
  connection
    .query<Record<string, string>, []>(`PRAGMA ${check}(${problemsMax})`)
    .all()
    .flatMap((row) => Object.values(row))
    .filter((text) => text !== 'ok')

/** What SQLite finds wrong with a file, in its own words; nothing when it is sound. */
export function problemsOf(connection: Sqlite): string[] {
  return [...damageOf(connection, 'integrity_check'), ...danglingIn(connection)]
}

/**
 * Copies what `connection` sees into a new file beside `target`, for the owner alone, and checks the copy.
 * @param onCopied told before the check
 * @returns the path of the copy, to be handed to `publish`
 */
export function copyInto(connection: Sqlite, target: string, onCopied: () => void = () => undefined): string {
  const temporary = newTemporary(target)
  // VACUUM INTO takes an empty file, which keeps the mode that it was made with.
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

export type CopyOrder = {
  source: string
  /** Without one the file is only checked, or looked into. */
  target?: string
  /** `figures`: the copy is counted as well, and nobody waits for it, so that whoever serves goes first; `documents`, `quick`: instead of a check. */
  what?: 'figures' | 'documents' | 'quick'
}
export type CopyAnswer =
  | { temporary: string; figures?: FileFigures }
  | { problems: string[] }
  | { documents: NamedDocument[] }
  | { failed: string; ours: boolean; code: string | undefined; path: string | undefined }

/** What is told of work in the other thread. */
export type CopyWatch = {
  /** Now and then: how large the copy is. */
  onBytes?: (bytes: number) => void
  /** The copy is made, and is being checked. */
  onCopied?: () => void
}

/**
 * `copyInto` in a thread of its own, from a read-only connection: nobody waits for it, however large the file.
 * @returns the path of the copy, to be handed to `publish`
 */
export async function copyInWorker(order: { source: string; target: string }, watch: CopyWatch = {}): Promise<string> {
  return (await copied(order, watch)).temporary
}

/** The same, with what the copy holds, at the lowest priority. */
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
  const told = () => {
    clearInterval(watch)
    syncing.end()
    onCopied()
  }
  try {
    const answer = await inWorker(order, told)
    if ('temporary' in answer) return answer
    throw new Error('the copy was not made')
  } finally {
    clearInterval(watch)
    syncing.end()
  }
}

/**
 * Brings a file that grows to the disk in small parts. All of it at once, at the end, would have every commit of the server wait for it:
 * on ext4 a sync waits for what other files have written.
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
      // It is not there yet, or not any more; whether it is whole on the disk is seen to at its end.
    } finally {
      isSyncing = false
    }
  }
  const timer = setInterval(() => void sync(), syncEveryMs)
  return { end: () => clearInterval(timer) }
}

/** The files that a database names, read in a thread of its own. */
export async function documentsInWorker(file: string): Promise<NamedDocument[]> {
  const answer = await inWorker({ source: file, what: 'documents' })
  if ('documents' in answer) return answer.documents
  throw new Error('the file was not read')
}

/** `problemsOf` a file, or what a quick check finds, in a thread of its own. */
export async function problemsInWorker(file: string, what?: 'quick'): Promise<string[]> {
  const answer = await inWorker({ source: file, ...(what ? { what } : {}) })
  if ('problems' in answer) return answer.problems
  throw new Error('the file was not checked')
}

async function inWorker(order: CopyOrder, onCopied: () => void = () => undefined): Promise<CopyAnswer> {
  const worker = new Worker(workerUrl())
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

/** Takes away the copy that this process is making, if it makes one. For a process that ends at once. */
export function dropUnfinished(target: string): void {
  const drop = () => {
    for (const ending of ['', '-journal']) rmSync(`${temporaryOf(target)}${ending}`, { force: true })
  }
  drop()
  // The other thread cannot be stopped: had it been about to open the file, it has made it anew by now.
  Bun.sleepSync(dropAgainMs)
  drop()
}

const dropAgainMs = 100

/** In the compiled program the worker lies beside the entry, by its path in the source tree; see the build script. */
const workerUrl = () =>
  (import.meta.url.endsWith('/db/sqlite/copy.ts')
    ? new URL('./copy-worker.ts', import.meta.url)
    : new URL('./db/sqlite/copy-worker.js', import.meta.url)
  ).href
