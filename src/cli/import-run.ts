/** What the imports of products and customers share. */
import { statSync } from 'node:fs'
import type { RowImportOptions } from '../core/csv-import.ts'
import type { RowNote } from '../core/csv-records.ts'
import type { Deps } from '../core/deps.ts'
import { OperatorError } from '../core/errors.ts'
import { type ImportResult, type LiveDeps, type RunningImport, runReportedImport } from '../modules/messaging/live-events/index.ts'
import { createProgress } from './progress.ts'

/** How many errors or notices are printed. */
export const notesShownMax = 50
/** Formats an error or notice as one line: `row 12, red-mug, price: …`. */
export const noteLine = ({ row, handle, column, message }: RowNote): string =>
  `row ${row}${handle ? `, ${handle}` : ''}${column ? `, ${column}` : ''}: ${message}\n`

/** Returns the size of a file. @throws OperatorError if there is none */
export function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw new OperatorError(`File not found: ${file}`)
  if (!stats.isFile()) throw new OperatorError(`Not a file: ${file}`)
  return stats.size
}

/** Runs work that ends early on Ctrl-C, by its signal. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const abort = () => stop.abort()
  process.once('SIGINT', abort)
  return work(stop.signal).finally(() => process.off('SIGINT', abort))
}

/** Runs an import with a progress bar, and reports it to the shop's listeners. Ctrl-C ends it after a batch. */
export async function importWithProgress<Report extends ImportResult>(
  deps: Deps & LiveDeps,
  running: RunningImport,
  work: (options: RowImportOptions) => Promise<Report>,
): Promise<Report> {
  const progress = createProgress({ total: running.bytes, label: 'Importing', stream: process.stderr, unit: 'bytes' })
  const importing = untilInterrupted((signal) =>
    runReportedImport(deps, running, (report) =>
      work({
        signal,
        onProgress(bytes, rows, failed) {
          progress.at(bytes, `${rows.toLocaleString('en-US')} rows`)
          report(bytes, rows, failed)
        },
      }),
    ),
  )
  return importing.finally(() => progress.end())
}
