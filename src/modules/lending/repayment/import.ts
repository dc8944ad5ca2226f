import { type Actor, locking } from '../../../core/command-context.ts'
import { addErrors, emptyRowReport, importRows, type RowImportOptions, type RowReport } from '../../../core/csv-import.ts'
import { type CsvSource, readRecords } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { readTapeHeader, readTapeRow, type TapeRow } from './csv.ts'
import type { RepaymentDeps } from './providers.ts'
import { recordRepayments } from './service.ts'

/** The result of a loan tape import. `known` counts equal rows that were recorded before. */
export type TapeReport = RowReport & { recorded: number; known: number }

type TapeOptions = Omit<RowImportOptions, 'onProgress'> & { readonly rowsMax?: number }

/** Rows per write. */
const batchSize = 64

const messages = {
  OTHER: {
    column: 'loanRef',
    message: 'is already recorded for this lender and due date, with other values: reverse that repayment first',
  },
  REVERSED: {
    column: 'loanRef',
    message: 'was recorded with the same values and reversed: record it by hand if it is correct',
  },
  NO_MERCHANT: { column: 'merchantId', message: 'must be a merchant of this instance' },
  NO_LENDER: { column: 'lenderId', message: 'must be a lender of this instance' },
} as const

/**
 * Imports a lender's loan tape. Recorded rows are recognized, so that a file can be imported again, also after a crash.
 * Invalid rows are skipped and reported.
 * @throws AppError INVALID for a file that is not a loan tape; TOO_LARGE above `rowsMax` rows; both messages say how
 * many rows were recorded
 */
export async function importTape(
  deps: RepaymentDeps,
  { actor }: { actor: Actor },
  source: CsvSource,
  { signal, rowsMax = Number.POSITIVE_INFINITY, rest }: TapeOptions = {},
): Promise<TapeReport> {
  const report: TapeReport = { ...emptyRowReport(), recorded: 0, known: 0 }
  const importing = importRows(report, {
    ...{ batchSize, rowsMax, signal, rest },
    records: readRecords(source, { rest }),
    readHeader: readTapeHeader,
    readRow: (tape, record) => readTapeRow(tape, record, deps.clock.now()),
    tooMany: () => {
      const text = `The file has more than ${rowsMax} rows. ${report.recorded} were recorded. Split the rest into smaller files`
      return new AppError('TOO_LARGE', text)
    },
    store: (rows: readonly TapeRow[]) => {
      const drafts = rows.map(({ draft }) => draft)
      return deps.db.write((tx) => recordRepayments(tx, deps, { actor, source: 'IMPORT', drafts }), locking)
    },
    count({ row }, { kind }) {
      if (kind === 'RECORDED') report.recorded++
      else if (kind === 'KNOWN') report.known++
      else addErrors(report, [{ row, ...messages[kind] }])
    },
  })
  await importing.catch((error: unknown) => {
    throw addRecordedCount(error, report)
  })
  return report
}

/** Adds the number of recorded rows to an error in the middle of a file. */
const addRecordedCount = (error: unknown, { recorded }: TapeReport): unknown =>
  error instanceof AppError && error.kind === 'INVALID' && recorded > 0
    ? new AppError('INVALID', `${error.message} ${recorded} rows before it were recorded. Correct the file and send it again`)
    : error

/** Creates the error of an import over HTTP that was stopped at its time limit. */
export const tapeStoppedError = ({ rows, recorded, known }: TapeReport): AppError =>
  new AppError(
    'UNAVAILABLE',
    `The import took too long and was stopped after ${rows} rows: ${recorded} were recorded, and ${known} were recorded before. Send the file again, or the rest of it`,
    { retryAfterSeconds: 1 },
  )
