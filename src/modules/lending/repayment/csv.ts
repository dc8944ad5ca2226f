import type { CsvRecord, InvalidRow } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { isDay, startOfDay } from '../../../lib/day.ts'
import { instantPattern, parseInstant } from '../../../lib/instant.ts'
import { centsOf, usdEnd } from '../../../lib/usd.ts'
import { loanRefMax, loanRefPattern, outcomes, type RepaymentDraft, violationOf } from './domain.ts'

/** The columns of a loan tape, in any order. */
const tapeColumns = ['merchantId', 'lenderId', 'loanRef', 'outcome', 'amountUsd', 'dueAt', 'settledAt'] as const
type Column = (typeof tapeColumns)[number]

export type TapeRow = { readonly row: number; readonly draft: RepaymentDraft }

/** The index of each column. */
type Tape = ReadonlyMap<Column, number>

/**
 * Reads the header.
 * @throws AppError INVALID for a missing, repeated or unknown column
 */
export function readTapeHeader({ cells }: CsvRecord): Tape {
  const tape = new Map<Column, number>()
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim().toLowerCase()
    const column = tapeColumns.find((candidate) => candidate.toLowerCase() === name)
    if (!column) throw new AppError('INVALID', `Row 1: column ${index + 1} must be one of ${tapeColumns.join(', ')}`)
    if (tape.has(column)) throw new AppError('INVALID', `Row 1 has the column ${column} twice: remove one`)
    tape.set(column, index)
  }
  const missing = tapeColumns.filter((column) => !tape.has(column))
  if (missing.length > 0) throw new AppError('INVALID', `Row 1 must also have the columns ${missing.join(', ')}`)
  return tape
}

class CellError extends Error {
  constructor(
    readonly column: Column,
    rule: string,
  ) {
    super(rule)
  }
}

/**
 * Reads a row.
 * @param now milliseconds
 */
export function readTapeRow(tape: Tape, { row, cells }: CsvRecord, now: number): TapeRow | InvalidRow {
  try {
    if (cells.length > tape.size) return { error: { row, message: `has more cells than the header, which has ${tape.size}` } }
    const draft = draftOf((column) => (cells[tape.get(column) ?? -1] ?? '').trim())
    const breach = violationOf(draft, now)
    return breach ? { error: { row, column: breach.field, message: breach.rule } } : { row, draft }
  } catch (error) {
    if (!(error instanceof CellError)) throw error
    return { error: { row, column: error.column, message: `must be ${error.message}` } }
  }
}

const loanRefForm = new RegExp(loanRefPattern)

function draftOf(cell: (column: Column) => string): RepaymentDraft {
  const id = (column: 'merchantId' | 'lenderId') => {
    const text = cell(column)
    if (!/^\w{1,64}$/.test(text)) throw new CellError(column, 'an id')
    return text
  }
  const merchantId = id('merchantId')
  const lenderId = id('lenderId')
  const loanRef = cell('loanRef')
  if (loanRef === '' || loanRef.length > loanRefMax || !loanRefForm.test(loanRef))
    throw new CellError('loanRef', `1 to ${loanRefMax} characters in one line`)
  const outcome = outcomes.find((candidate) => candidate === cell('outcome').toUpperCase())
  if (!outcome) throw new CellError('outcome', `one of ${outcomes.join(', ')}`)
  if (!/^\d{1,40}(\.\d{1,2})?$/.test(cell('amountUsd')))
    throw new CellError('amountUsd', 'dollars with at most two decimals, such as 1250.50')
  const amountUsd = centsOf(Number(cell('amountUsd')))
  if (amountUsd === undefined) throw new CellError('amountUsd', `less than ${usdEnd}`)
  const dueAt = instantIn('dueAt', cell('dueAt'))
  const settledAt = cell('settledAt') === '' ? null : instantIn('settledAt', cell('settledAt'))
  return { merchantId, lenderId, loanRef, outcome, amountUsd, dueAt, settledAt }
}

const instantForm = new RegExp(instantPattern)

/** Reads a day as its start in UTC, or a time with a zone. */
function instantIn(column: 'dueAt' | 'settledAt', text: string): number {
  const ms = isDay(text) ? startOfDay(text) : text.length <= 40 && instantForm.test(text) ? parseInstant(text) : Number.NaN
  if (Number.isNaN(ms)) throw new CellError(column, 'a day such as 2026-01-31, or a time with a zone such as 2026-01-31T12:00:00Z')
  return ms
}
