/** What every dialect of a product file is read by: its rows in batches, and those of products that are not complete yet. */
import { type CsvRecord, type CsvSource, type Rest, readRecords } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { type ProductRows, rowsMax } from './csv-product.ts'

export type CsvOptions = {
  currency: string
  /** Told how far the second pass has come, in which products are read; ends at the file's size. */
  onProgress?: (bytesRead: number) => void
  /** Called once with the names of columns that are not imported, where there are some. */
  onUnusedColumns?: ((names: readonly string[]) => void) | undefined
  /** Ends the reading at the next slice of the file: its reason is thrown. */
  signal?: AbortSignal | undefined
  /** A file with more is refused before anything of it is read for good. */
  limits?: CsvLimits | undefined
  /** Between two slices of the file; a turn of the loop unless told otherwise. */
  rest?: Rest | undefined
}
export type CsvLimits = { rows: number; products: number }

/** Bounds the map of pass one. */
export const productsMax = 1_000_000
/** Bounds the rows of unfinished products in pass two: characters of their cells, plus what a row takes beside them. */
const heldMaxCharacters = 128 * 1024 * 1024
const rowOverheadCharacters = 512
export const invalid = (message: string) => new AppError('INVALID', message)

export const tooMany = (what: string, most: number) =>
  new AppError('TOO_LARGE', `The file has more than ${most} ${what}: split it, or have it imported by the command \`souk import\``)

export const changed = () => invalid('The file changed while it was read: try again.')

/** The header's columns with each batch of records below it; rows that are blank from end to end are left out. */
export async function* readTable<Columns extends { readonly count: number; readonly unused?: readonly string[] }>(
  source: CsvSource,
  mapHeader: (header: readonly string[]) => Columns,
  { signal, onProgress, onUnusedColumns, rest }: Pick<CsvOptions, 'onProgress' | 'onUnusedColumns' | 'signal' | 'rest'>,
): AsyncGenerator<{ columns: Columns; records: CsvRecord[] }> {
  let columns: Columns | undefined
  for await (const batch of readRecords(source, { ...(onProgress ? { onProgress } : {}), ...(rest ? { rest } : {}) })) {
    signal?.throwIfAborted()
    const records = batch.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
    const header = columns ? undefined : records.shift()
    if (header) columns = mapHeader(header.cells)
    const unused = (header && columns?.unused?.filter((name) => name.trim() !== '')) || []
    if (unused.length > 0) onUnusedColumns?.(unused)
    if (!columns) continue
    for (const { row, cells } of records) refuseExtraCells(row, cells.length, columns)
    yield { columns, records }
  }
  if (!columns) throw invalid('The file is empty.')
}

/**
 * An unquoted separator moves every later cell, perhaps the handle: nothing in the row can be trusted, so the file is
 * refused.
 */
function refuseExtraCells(row: number, count: number, columns: { readonly count: number }): void {
  if (count > columns.count)
    throw invalid(`Row ${row} has ${count} cells, but the header has ${columns.count}: put cells that contain the separator in quotes.`)
}

/** A row with what it holds, however its columns are told. */
type Held = { readonly number: number; readonly cells: ReadonlyMap<unknown, string> }
export type Group<Row extends Held> = {
  readonly handle: ProductRows['handle']
  readonly firstRow: number
  rows: Row[]
  count: number
  held: number
}

/** The products whose last row is still to come. */
export class OpenGroups<Row extends Held> {
  private readonly groups = new Map<string, Group<Row>>()
  private held = 0

  get size(): number {
    return this.groups.size
  }

  add({ key, handle }: { readonly key: string; readonly handle: ProductRows['handle'] }, row: Row): void {
    const group = this.groups.get(key) ?? { handle, firstRow: row.number, rows: [], count: 0, held: 0 }
    this.groups.set(key, group)
    group.count += 1
    if (group.count > rowsMax) this.drop(group)
    else this.hold(group, row)
  }

  take(key: string): Group<Row> | undefined {
    const group = this.groups.get(key)
    this.groups.delete(key)
    this.held -= group?.held ?? 0
    return group
  }

  private hold(group: Group<Row>, row: Row): void {
    let characters = rowOverheadCharacters
    for (const cell of row.cells.values()) characters += cell.length
    group.rows.push(row)
    group.held += characters
    this.held += characters
    if (this.held > heldMaxCharacters)
      throw invalid(
        `Row ${row.number}: too many products are unfinished here. Sort the file by handle, so that each product's rows are together.`,
      )
  }

  /** The product is lost anyway, so that only its number of rows matters. */
  private drop(group: Group<Row>): void {
    this.held -= group.held
    group.held = 0
    group.rows = []
  }
}
