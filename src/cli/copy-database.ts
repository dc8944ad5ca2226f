/** Copies and checks of database files, with what is done and left of them on standard error. */
import { copyInWorker, problemsInWorker } from '../../db/sqlite/copy.ts'
import { createProgress, whileWaiting } from './progress.ts'

const stream = process.stderr

/**
 * A checked copy beside `target`, to be handed to `publish`.
 * @param bytes how large it will be, about
 */
export async function copyWithProgress(order: { source: string; target: string }, bytes: number): Promise<string> {
  const progress = createProgress({ total: bytes, label: 'Copying', stream, unit: 'bytes' })
  const copied = Promise.withResolvers<void>()
  const copy = copyInWorker(order, { onBytes: (done) => progress.at(done), onCopied: copied.resolve })
  await Promise.race([copied.promise, copy]).finally(progress.end)
  return whileWaiting('Checking the copy', stream, copy)
}

/** What is wrong with a file. */
export const problemsWithProgress = (file: string): Promise<string[]> => whileWaiting('Checking the file', stream, problemsInWorker(file))
