/** Shared by all dialects of product files: reads rows in batches and collects the rows of each product. */
import { type CsvRecord, type CsvSource, readRecords, type YieldThread } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { type ProductRows, rowsMax } from './csv-product.ts'

export type CsvOptions = {
  currency: string
  /** Receives the bytes that the second pass has read. Ends at the file's size. */
  onProgress?: ((bytesRead: number) => void) | undefined
  /** Receives the names of columns that are not imported, once, if there are any. */
  onUnusedColumns?: ((names: readonly string[]) => void) | undefined
  /** Ends the import at the next slice of the file by throwing the signal's reason. */
  signal?: AbortSignal | undefined
  /** Limits that are checked before any product is returned. */
  limits?: CsvLimits | undefined
  /** Runs between two slices of the file. Default: yields to the event loop. */
  rest?: YieldThread | undefined
}
export type CsvLimits = { rows: number; products: number }

/** Bounds the memory of the first pass. */
export const productsMax = 1_000_000
/** Bounds the rows of unfinished products in the second pass: characters of cells, plus an overhead for each row. */
const unfinishedCharactersMax = 128 * 1024 * 1024
const rowOverheadCharacters = 512
/**
 * Creates the error that refuses a whole file.
 * @param message a sentence that repeats no cell
 */
export const invalidFile = (message: string) => new AppError('INVALID', message)

/**
 * Creates the error for a file above a limit of the HTTP import; the command has higher ones.
 * @param what a plural, such as `rows`
 */
export const tooManyError = (what: string, most: number) =>
  new AppError('TOO_LARGE', `The file has more than ${most} ${what}. Split it, or run \`souk import\``)

/** Creates the error for a file whose second pass differs from the first. */
export const fileChangedError = () => invalidFile('The file changed while it was read: try again.')

/** Yields the columns with each batch of records. Blank rows are left out. */
export async function* readTable<Columns extends { readonly count: number; readonly unused?: readonly string[] }>(
  source: CsvSource,
  mapHeader: (header: readonly string[]) => Columns,
  { signal, onProgress, onUnusedColumns, rest }: Pick<CsvOptions, 'onProgress' | 'onUnusedColumns' | 'signal' | 'rest'>,
): AsyncGenerator<{ columns: Columns; records: CsvRecord[] }> {
  let columns: Columns | undefined
  for await (const records of readRecords(source, { onProgress, rest, skipsBlankRows: true })) {
    signal?.throwIfAborted()
    const header = columns ? undefined : records.shift()
    if (header) columns = mapHeader(header.cells)
    const unused = (header && columns?.unused?.filter((name) => name.trim() !== '')) || []
    if (unused.length > 0) onUnusedColumns?.(unused)
    if (!columns) continue
    for (const { row, cells } of records) refuseExtraCells(row, cells.length, columns)
    yield { columns, records }
  }
  if (!columns) throw invalidFile('The file is empty.')
}

/** An unquoted separator shifts all later cells, so the row cannot be trusted and the file is refused. */
function refuseExtraCells(row: number, count: number, columns: { readonly count: number }): void {
  if (count > columns.count)
    throw invalidFile(`Row ${row} has ${count} cells, but the header has ${columns.count}: put cells that contain the separator in quotes.`)
}

/** A row with its cells by column. */
type RowCells = { readonly number: number; readonly cells: ReadonlyMap<unknown, string> }
export type RowGroup<Row extends RowCells> = {
  readonly handle: ProductRows['handle']
  readonly firstRow: number
  rows: Row[]
  count: number
  characters: number
}

/** Products whose last row was not read yet. */
export class UnfinishedProducts<Row extends RowCells> {
  private readonly groups = new Map<string, RowGroup<Row>>()
  private characters = 0

  get size(): number {
    return this.groups.size
  }

  add({ key, handle }: { readonly key: string; readonly handle: ProductRows['handle'] }, row: Row): void {
    const group = this.groups.get(key) ?? { handle, firstRow: row.number, rows: [], count: 0, characters: 0 }
    this.groups.set(key, group)
    group.count += 1
    if (group.count > rowsMax) this.drop(group)
    else this.hold(group, row)
  }

  take(key: string): RowGroup<Row> | undefined {
    const group = this.groups.get(key)
    this.groups.delete(key)
    this.characters -= group?.characters ?? 0
    return group
  }

  private hold(group: RowGroup<Row>, row: Row): void {
    let characters = rowOverheadCharacters
    for (const cell of row.cells.values()) characters += cell.length
    group.rows.push(row)
    group.characters += characters
    this.characters += characters
    if (this.characters > unfinishedCharactersMax)
      throw invalidFile(
        `Row ${row.number}: too many products are unfinished here. Sort the file by handle, so that each product's rows are together.`,
      )
  }

  /** Frees the rows of a product that is refused for its number of rows; only the count is still needed. */
  private drop(group: RowGroup<Row>): void {
    this.characters -= group.characters
    group.characters = 0
    group.rows = []
  }
}
