import { proseError } from '../../../core/csv-format.ts'
import type { CsvRecord } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { isDay, startOf } from '../../../lib/day.ts'
import { instantPattern, parseInstant } from '../../../lib/instant.ts'
import { centsOf, usdEnd } from '../../../lib/usd.ts'
import { breachOf, type Draft, loanRefMax, loanRefPattern, outcomes } from './domain.ts'

/** The columns of a loan tape, in any order. */
export const tapeColumns = ['merchantId', 'lenderId', 'loanRef', 'outcome', 'amountUsd', 'dueAt', 'settledAt'] as const
type Column = (typeof tapeColumns)[number]

/** What is wrong with a row of the file, the first of which is 1. No message repeats a cell. */
export type RowError = { readonly row: number; readonly column?: string; readonly message: string }

export type TapeRow = { readonly row: number } & ({ readonly draft: Draft } | { readonly error: RowError })

/** Where in a row each column stands. */
export type Tape = ReadonlyMap<Column, number>

/**
 * Reads the header.
 * @throws AppError INVALID for a column that is missing, twice or unknown, naming it; of an unknown one, its place
 */
export function tapeOf({ cells }: CsvRecord): Tape {
  const tape = new Map<Column, number>()
  for (const [at, cell] of cells.entries()) {
    const name = cell.trim().toLowerCase()
    const column = tapeColumns.find((one) => one.toLowerCase() === name)
    if (!column && cells.length === 1) throw proseError()
    if (!column) throw new AppError('INVALID', `Row 1: column ${at + 1} is none of ${tapeColumns.join(', ')}`)
    if (tape.has(column)) throw new AppError('INVALID', `Row 1: ${column} stands there twice`)
    tape.set(column, at)
  }
  const missing = tapeColumns.filter((column) => !tape.has(column))
  if (missing.length > 0) throw new AppError('INVALID', `Row 1: ${missing.join(', ')} missing`)
  return tape
}

class Fault extends Error {
  constructor(
    readonly column: Column,
    rule: string,
  ) {
    super(rule)
  }
}

/**
 * Reads an instalment.
 * @param now milliseconds
 */
export function tapeRowOf(tape: Tape, { row, cells }: CsvRecord, now: number): TapeRow {
  try {
    if (cells.length > tape.size) return { row, error: { row, message: `has more cells than the header, which has ${tape.size}` } }
    const draft = draftOf((column) => (cells[tape.get(column) ?? -1] ?? '').trim())
    const breach = breachOf(draft, now)
    return breach ? { row, error: { row, column: breach.field, message: breach.rule } } : { row, draft }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { row, error: { row, column: error.column, message: `must be ${error.message}` } }
  }
}

const loanRefForm = new RegExp(loanRefPattern)

function draftOf(cell: (column: Column) => string): Draft {
  const id = (column: 'merchantId' | 'lenderId') => {
    const text = cell(column)
    if (!/^\w{1,64}$/.test(text)) throw new Fault(column, 'an id')
    return text
  }
  const merchantId = id('merchantId')
  const lenderId = id('lenderId')
  const loanRef = cell('loanRef')
  if (loanRef === '' || loanRef.length > loanRefMax || !loanRefForm.test(loanRef))
    throw new Fault('loanRef', `1 to ${loanRefMax} characters in one line`)
  const outcome = outcomes.find((one) => one === cell('outcome').toUpperCase())
  if (!outcome) throw new Fault('outcome', `one of ${outcomes.join(', ')}`)
  if (!/^\d{1,40}(\.\d{1,2})?$/.test(cell('amountUsd'))) throw new Fault('amountUsd', 'dollars with at most two decimals, as 1250.50')
  const amountUsd = centsOf(Number(cell('amountUsd')))
  if (amountUsd === undefined) throw new Fault('amountUsd', `less than ${usdEnd}`)
  const dueAt = instantIn('dueAt', cell('dueAt'))
  const settledAt = cell('settledAt') === '' ? null : instantIn('settledAt', cell('settledAt'))
  return { merchantId, lenderId, loanRef, outcome, amountUsd, dueAt, settledAt }
}

const instantForm = new RegExp(instantPattern)

/** A day is its beginning, UTC: tapes have days more often than times. */
function instantIn(column: 'dueAt' | 'settledAt', text: string): number {
  const ms = isDay(text) ? startOf(text) : text.length <= 40 && instantForm.test(text) ? parseInstant(text) : Number.NaN
  if (Number.isNaN(ms)) throw new Fault(column, 'a day, as 2026-01-31, or a time with its zone, as 2026-01-31T12:00:00Z')
  return ms
}
