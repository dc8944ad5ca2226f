/** What imports of CSV files share: rows, batches, and the report of what failed. */
import { retryOnConflict } from './conflict.ts'
import { type CsvRecord, type InvalidRow, type RowNote, type YieldThread, yieldThread } from './csv-records.ts'
import { AppError } from './errors.ts'

/** `rows` were stored or refused. `complete` is false if the import was stopped; what was stored until then stays. */
export type RowReport = { complete: boolean; rows: number; failed: number; errors: RowNote[]; errorsTruncated: boolean }
/** Columns and values that were ignored or changed. */
export type NoticeReport = { notices: RowNote[]; noticesTruncated: boolean }
const notesMax = 1_000

/** Creates the report of an import that has read no row. */
export const emptyRowReport = (): RowReport => ({ complete: true, rows: 0, failed: 0, errors: [], errorsTruncated: false })
/** Creates a report without notices. */
export const emptyNoticeReport = (): NoticeReport => ({ notices: [], noticesTruncated: false })

/** Counts one failure, and lists its errors. */
export function addErrors(report: RowReport, errors: readonly RowNote[]): void {
  report.failed++
  report.errorsTruncated ||= addNotes(report.errors, errors)
}

/** Adds notices until the report is full, then only marks it as truncated. */
export function addNotices(report: NoticeReport, notices: readonly RowNote[]): void {
  report.noticesTruncated ||= addNotes(report.notices, notices)
}

/** Returns whether notes were left out. */
function addNotes(list: RowNote[], notes: readonly RowNote[]): boolean {
  const room = notesMax - list.length
  list.push(...notes.slice(0, room))
  return notes.length > room
}

/** How an import reports its progress and shares the thread. */
export type RowImportOptions = {
  /** Receives bytes read, rows stored or refused, and failures. */
  readonly onProgress?: (bytesRead: number, rows: number, failed: number) => void
  /** Ends the import after the current batch. */
  readonly signal?: AbortSignal | undefined
  /** Yields to other work between batches. Returns true if other work was waiting. */
  readonly rest?: YieldThread | undefined
}

type Batches<Item> = Pick<RowImportOptions, 'signal' | 'rest'> & {
  /** Items per batch. A larger batch would delay other writers. */
  readonly batchSize: number
  /** The batch size while other work is waiting. */
  readonly busyBatchSize?: number | undefined
  readonly store: (batch: readonly Item[]) => Promise<unknown>
}

/**
 * Stores items in batches, in their order.
 * @returns whether all were stored; false if `signal` ended the import
 */
export async function storeInBatches<Item>(
  items: AsyncIterable<Item>,
  { batchSize, busyBatchSize = batchSize, store, signal, rest = yieldThread }: Batches<Item>,
): Promise<boolean> {
  let batch: Item[] = []
  let size = batchSize
  const storeBatch = async () => {
    await store(batch)
    batch = []
    size = (await rest()) === true ? busyBatchSize : batchSize
    signal?.throwIfAborted()
  }
  try {
    for await (const item of items) {
      batch.push(item)
      if (batch.length >= size) await storeBatch()
    }
    await storeBatch()
    return true
  } catch (error) {
    if (!signal?.aborted || error !== signal.reason) throw error
    return false
  }
}

type RowImport<Columns, Row, Result> = Pick<Batches<never>, 'batchSize' | 'signal' | 'rest'> & {
  readonly records: AsyncIterable<CsvRecord[]>
  /** Reads the header. @throws AppError INVALID */
  readonly readHeader: (record: CsvRecord) => Columns
  readonly readRow: (columns: Columns, record: CsvRecord) => Row | InvalidRow
  readonly rowsMax: number
  readonly tooMany: () => AppError
  /** Stores rows, in one write, and returns the result of each. */
  readonly store: (rows: readonly Row[]) => Promise<Result[]>
  /** Adds the result of a stored row to the report. */
  readonly count: (row: Row, result: Result) => void
}

/**
 * Imports a file whose rows do not depend on each other. Invalid rows are reported.
 * @throws AppError INVALID for an unusable file; `tooMany`
 */
export async function importRows<Columns, Row extends object, Result>(
  report: RowReport,
  { records, readHeader, readRow, rowsMax, tooMany, store, count, ...batches }: RowImport<Columns, Row, Result>,
): Promise<void> {
  async function* rows(): AsyncGenerator<Row | InvalidRow> {
    let columns: Columns | undefined
    let rowsRead = 0
    for await (const batch of records) {
      for (const record of batch) {
        if (columns === undefined) {
          columns = readHeader(record)
          continue
        }
        if (++rowsRead > rowsMax) throw tooMany()
        yield readRow(columns, record)
      }
    }
    if (columns === undefined) throw new AppError('INVALID', 'The file is empty')
  }
  report.complete = await storeInBatches(rows(), {
    ...batches,
    async store(batch) {
      const valid = batch.filter((row): row is Row => !('error' in row))
      // Another write may store one of the rows at the same time.
      const results = valid.length === 0 ? [] : await retryOnConflict(() => store(valid))
      let nth = 0
      for (const row of batch) {
        report.rows++
        if ('error' in row) addErrors(report, [row.error])
        else count(row, results[nth++] as Result)
      }
    },
  })
}
