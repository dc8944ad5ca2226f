import { isUniqueViolation } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import { type CsvSource, type Rest, readRecords } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { type RowError, type Tape, type TapeRow, tapeOf, tapeRowOf } from './csv.ts'
import type { Draft } from './domain.ts'
import type { RepaymentDeps } from './providers.ts'
import { type Recorded, recordAll } from './service.ts'

/** What came of a loan tape. `known` rows were there already and say the same. `complete` is false when it was stopped before its end. */
export type TapeReport = {
  complete: boolean
  rows: number
  recorded: number
  known: number
  failed: number
  errors: RowError[]
  errorsTruncated: boolean
}

export type TapeOptions = {
  /** Ends the import after the rows that are at work. */
  readonly signal?: AbortSignal
  readonly rowsMax?: number
  /** Between two pieces: lets others have the thread. */
  readonly rest?: Rest
}

/** So many rows share a write; more would hold up other writers. */
const rowsAtOnce = 64
const errorsMax = 1_000
const triesMax = 5
const turn: Rest = () => new Promise((resume) => setImmediate(resume))

const messages = {
  OTHER: {
    column: 'loanRef',
    message: 'is recorded with this lender and due date already, and says something else: reverse that one first',
  },
  REVERSED: {
    column: 'loanRef',
    message: 'was recorded and reversed, and says the same: record it by hand if it is right after all',
  },
  NO_MERCHANT: { column: 'merchantId', message: 'is no merchant' },
  NO_LENDER: { column: 'lenderId', message: 'is no lender' },
} as const

/**
 * Records the rows of a lender's loan tape. What is recorded already is known again, so that a file can be imported any number of times,
 * and again after a crash. A bad row is left out and named; the others are recorded.
 * @throws AppError INVALID for a file that is none; TOO_LARGE for one of more than `rowsMax` rows; either says how much of what came before
 *   was recorded
 */
export async function importTape(
  deps: RepaymentDeps,
  { actor }: { actor: Actor },
  source: CsvSource,
  { signal, rowsMax = Number.POSITIVE_INFINITY, rest = turn }: TapeOptions = {},
): Promise<TapeReport> {
  const report: TapeReport = { complete: true, rows: 0, recorded: 0, known: 0, failed: 0, errors: [], errorsTruncated: false }
  let tape: Tape | undefined
  let batch: TapeRow[] = []
  const flush = async () => {
    await record(deps, actor, batch, report)
    batch = []
    await rest()
    signal?.throwIfAborted()
  }
  try {
    for await (const records of readRecords(source, { rest })) {
      for (const one of records) {
        if (!tape) {
          tape = tapeOf(one)
          continue
        }
        if (report.rows + batch.length >= rowsMax)
          throw new AppError(
            'TOO_LARGE',
            `The file has more than ${rowsMax} rows: ${report.recorded} before them were recorded. Send it in parts`,
          )
        batch.push(tapeRowOf(tape, one, deps.clock.now()))
        if (batch.length >= rowsAtOnce) await flush()
      }
    }
    if (!tape) throw new AppError('INVALID', 'The file is empty')
    await flush()
  } catch (error) {
    if (!signal?.aborted || error !== signal.reason) throw withRecorded(error, report)
    report.complete = false
  }
  return report
}

/** A file that turns out to be none in its middle: what was recorded of it by then stays, and is told of. */
const withRecorded = (error: unknown, { recorded }: TapeReport): unknown =>
  error instanceof AppError && error.code === 'INVALID' && recorded > 0
    ? new AppError('INVALID', `${error.message} ${recorded} of the rows before it were recorded: mend the file and send it again`)
    : error

async function record(deps: RepaymentDeps, actor: Actor, batch: readonly TapeRow[], report: TapeReport): Promise<void> {
  const drafts = batch.flatMap((row) => ('draft' in row ? [row.draft] : []))
  const results = drafts.length === 0 ? [] : await recorded(deps, actor, drafts)
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

/** Another process may have recorded one of them at the same time: then it is there when they are looked for again. */
async function recorded(deps: RepaymentDeps, actor: Actor, drafts: readonly Draft[]): Promise<Recorded[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await deps.db.write((tx) => recordAll(tx, deps, { actor, source: 'IMPORT', drafts }), locking)
    } catch (error) {
      if (!isUniqueViolation(error) || tries === triesMax) throw error
    }
  }
}

function fail(report: TapeReport, error: RowError): void {
  report.failed++
  if (report.errors.length < errorsMax) report.errors.push(error)
  else report.errorsTruncated = true
}

/** What is said of an import over HTTP that was stopped before the end of its file. */
export const tapeStopped = ({ rows, recorded, known }: TapeReport): AppError =>
  new AppError(
    'UNAVAILABLE',
    `The import took too long and was stopped after ${rows} rows. ${recorded} were recorded and ${known} were known, and that stays: send the file again, or the rest of it`,
    { retryAfterSeconds: 1 },
  )
