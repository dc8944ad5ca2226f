/** Copies and checks database files with progress on standard error. */
import { copyInWorker, problemsInWorker } from '../../db/sqlite/copy.ts'
import { createProgress, whileWaiting } from './progress.ts'

const stream = process.stderr

/**
 * Makes a checked copy next to `target` for `publish`.
 * @param bytes the approximate size
 */
export async function copyWithProgress(order: { source: string; target: string }, bytes: number): Promise<string> {
  const progress = createProgress({ total: bytes, label: 'Copying', stream, unit: 'bytes' })
  const copied = Promise.withResolvers<void>()
  const copy = copyInWorker(order, { onBytes: (done) => progress.at(done), onCopied: copied.resolve })
  await Promise.race([copied.promise, copy]).finally(progress.end)
  return whileWaiting('Checking the copy', stream, copy)
}

/** Returns the problems of a database file. */
export const findProblemsWithProgress = (file: string): Promise<string[]> =>
  whileWaiting('Checking the file', stream, problemsInWorker(file))
