import { type Actor, locking } from '../../../core/command-context.ts'
import { retryOnConflict } from '../../../core/conflict.ts'
import { type CsvSource, readRecords, type YieldThread } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { type RowError, readTapeHeader, readTapeRow, type Tape, type TapeRow } from './csv.ts'
import type { RepaymentDraft } from './domain.ts'
import type { RepaymentDeps } from './providers.ts'
import { type RecordResult, recordRepayments } from './service.ts'

/**
 * The result of a loan tape import. `known` counts equal rows that were recorded before. `complete` is false if the
 * import was stopped.
 */
export type TapeReport = {
  complete: boolean
  rows: number
  recorded: number
  known: number
  failed: number
  errors: RowError[]
  errorsTruncated: boolean
}

type TapeOptions = {
  /** Ends the import after the current batch. */
  readonly signal?: AbortSignal
  readonly rowsMax?: number
  /** Yields the main thread between batches. */
  readonly rest?: YieldThread
}

/** Rows per write. More would delay other writers. */
const rowsAtOnce = 64
const errorsMax = 1_000
const yieldToEventLoop: YieldThread = () => new Promise((resume) => setImmediate(resume))

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
  { signal, rowsMax = Number.POSITIVE_INFINITY, rest = yieldToEventLoop }: TapeOptions = {},
): Promise<TapeReport> {
  const report: TapeReport = { complete: true, rows: 0, recorded: 0, known: 0, failed: 0, errors: [], errorsTruncated: false }
  let tape: Tape | undefined
  let batch: TapeRow[] = []
  const flush = async () => {
    await recordBatch(deps, actor, batch, report)
    batch = []
    await rest()
    signal?.throwIfAborted()
  }
  try {
    for await (const records of readRecords(source, { rest })) {
      for (const csvRecord of records) {
        if (!tape) {
          tape = readTapeHeader(csvRecord)
          continue
        }
        if (report.rows + batch.length >= rowsMax)
          throw new AppError(
            'TOO_LARGE',
            `The file has more than ${rowsMax} rows. ${report.recorded} were recorded. Split the rest into smaller files`,
          )
        batch.push(readTapeRow(tape, csvRecord, deps.clock.now()))
        if (batch.length >= rowsAtOnce) await flush()
      }
    }
    if (!tape) throw new AppError('INVALID', 'The file is empty')
    await flush()
  } catch (error) {
    if (!signal?.aborted || error !== signal.reason) throw addRecordedCount(error, report)
    report.complete = false
  }
  return report
}

/** Adds the number of recorded rows to an error in the middle of a file. */
const addRecordedCount = (error: unknown, { recorded }: TapeReport): unknown =>
  error instanceof AppError && error.kind === 'INVALID' && recorded > 0
    ? new AppError('INVALID', `${error.message} ${recorded} rows before it were recorded. Correct the file and send it again`)
    : error

async function recordBatch(deps: RepaymentDeps, actor: Actor, batch: readonly TapeRow[], report: TapeReport): Promise<void> {
  const drafts = batch.flatMap((row) => ('draft' in row ? [row.draft] : []))
  const results = drafts.length === 0 ? [] : await recordWithRetries(deps, actor, drafts)
  let nth = 0
  for (const row of batch) {
    report.rows++
    if ('error' in row) {
      fail(report, row.error)
      continue
    }
    const kind = results[nth++]?.kind
    if (kind === 'RECORDED') report.recorded++
    else if (kind === 'KNOWN') report.known++
    else if (kind) fail(report, { row: row.row, ...messages[kind] })
  }
}

/** Retries if another process recorded one of the rows at the same time. The retry then finds it. */
async function recordWithRetries(deps: RepaymentDeps, actor: Actor, drafts: readonly RepaymentDraft[]): Promise<RecordResult[]> {
  return retryOnConflict(() => deps.db.write((tx) => recordRepayments(tx, deps, { actor, source: 'IMPORT', drafts }), locking))
}

function fail(report: TapeReport, error: RowError): void {
  report.failed++
  if (report.errors.length < errorsMax) report.errors.push(error)
  else report.errorsTruncated = true
}

/** The error of an import over HTTP that was stopped at its time limit. */
export const tapeStoppedError = ({ rows, recorded, known }: TapeReport): AppError =>
  new AppError(
    'UNAVAILABLE',
    `The import took too long and was stopped after ${rows} rows: ${recorded} were recorded, and ${known} were recorded before. Send the file again, or the rest of it`,
    { retryAfterSeconds: 1 },
  )
