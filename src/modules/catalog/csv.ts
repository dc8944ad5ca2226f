import { type CsvRecord, type CsvSource, type Rest, readRecords } from '../../core/csv-records.ts'
import { AppError } from '../../core/errors.ts'
import { unescaped } from '../../lib/csv-line.ts'
import { type Currency, isCurrency } from '../../lib/money.ts'
import { Fault, handleFromTitle, parseHandle } from './csv-cells.ts'
import { type Columns, type Field, mapHeader } from './csv-columns.ts'
import type { CsvItem } from './csv-items.ts'
import { buildProduct, type ProductRows, type Row, rejected, rowsMax } from './csv-product.ts'
import { imagesMax, variantsMax } from './domain.ts'

export type { CsvSource } from '../../core/csv-records.ts'

export type CsvOptions = {
  currency: string
  /** Told how far the second pass has come, in which products are read; ends at the file's size. */
  onProgress?: (bytesRead: number) => void
  /** Ends the reading at the next slice of the file: its reason is thrown. */
  signal?: AbortSignal | undefined
  /** A file with more is refused before anything of it is read for good. */
  limits?: CsvLimits | undefined
  /** Between two slices of the file; a turn of the loop unless told otherwise. */
  rest?: Rest | undefined
}
export type CsvLimits = { rows: number; products: number }

/** Bounds the map of pass one. */
const productsMax = 1_000_000
/** Bounds the rows of unfinished products in pass two: characters of their cells, plus what a row takes beside them. */
const heldMaxCharacters = 128 * 1024 * 1024
const rowOverheadCharacters = 512
/** Long enough to tell apart the handles that are refused, whose length nothing else limits. */
const refusedKeyMaxLength = 255

const invalid = (message: string) => new AppError('INVALID', message)

/**
 * Reads the products of a Shopify export, old or new dialect, in the order of their last rows. The source is read
 * twice: rows of one product need not be adjacent, so the first pass finds each product's last row, and the second holds
 * a product's rows until then. What is wrong with the file as a whole is thrown as `INVALID` before the first product;
 * what is wrong with a row rejects its product, and the others go on.
 * @throws AppError INVALID; TOO_LARGE past `limits`; the reason of `signal`
 */
export async function* readProducts(source: CsvSource, options: CsvOptions): AsyncGenerator<CsvItem> {
  if (!isCurrency(options.currency)) throw invalid('currency must be an ISO 4217 code.')
  const plan = await findLastRows(source, options)
  yield* assemble(source, plan, options.currency, options)
}

type Plan = { readonly lastLines: ReadonlyMap<string, number>; readonly rows: number }

async function findLastRows(source: CsvSource, { signal, limits, rest }: CsvOptions): Promise<Plan> {
  const lastLines = new Map<string, number>()
  let rows = 0
  for await (const { columns, records } of readTable(source, { signal, rest })) {
    for (const { line, cells } of records) {
      rows += 1
      const identity = identify(columns, cells)
      if (identity) lastLines.set(identity.key, line)
    }
    if (limits && rows > limits.rows) throw tooMany('rows', limits.rows)
    if (limits && lastLines.size > limits.products) throw tooMany('products', limits.products)
    if (lastLines.size > productsMax) throw invalid(`The file has more than ${productsMax} products: split it.`)
  }
  return { lastLines, rows }
}

const tooMany = (what: string, most: number) =>
  new AppError('TOO_LARGE', `The file has more than ${most} ${what}: split it, or have it imported by the command \`souk import\``)

async function* assemble(
  source: CsvSource,
  plan: Plan,
  currency: Currency,
  how: Pick<CsvOptions, 'onProgress' | 'signal' | 'rest'>,
): AsyncGenerator<CsvItem> {
  const groups = new OpenGroups()
  let rows = 0
  for await (const { columns, records } of readTable(source, how)) {
    for (const record of records) {
      rows += 1
      const identity = identify(columns, record.cells)
      if (!identity) {
        yield nameless(record, columns)
        continue
      }
      const lastLine = plan.lastLines.get(identity.key) ?? 0
      if (record.line > lastLine) throw changed()
      groups.add(identity, rowOf(columns, record, identity))
      if (record.line === lastLine) yield finish(groups.take(identity.key), columns, currency)
    }
  }
  if (rows !== plan.rows || groups.size > 0) throw changed()
}

const changed = () => invalid('The file changed while it was read: try again.')

/** The header's columns with each batch of records below it; rows that are blank from end to end are left out. */
async function* readTable(
  source: CsvSource,
  { signal, onProgress, rest }: Pick<CsvOptions, 'onProgress' | 'signal' | 'rest'>,
): AsyncGenerator<{ columns: Columns; records: CsvRecord[] }> {
  let columns: Columns | undefined
  for await (const batch of readRecords(source, { ...(onProgress ? { onProgress } : {}), ...(rest ? { rest } : {}) })) {
    signal?.throwIfAborted()
    const records = batch.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
    const header = columns ? undefined : records.shift()
    if (header) columns = mapHeader(header.cells)
    if (!columns) continue
    for (const { line, cells } of records) refuseExtraCells(line, cells.length, columns)
    yield { columns, records }
  }
  if (!columns) throw invalid('The file is empty.')
}

/** An unquoted comma moves every later cell, perhaps the handle: nothing in the row can be trusted, so the file is refused. */
function refuseExtraCells(line: number, count: number, columns: Columns): void {
  if (count > columns.count)
    throw invalid(`Row ${line} has ${count} cells, but the header has ${columns.count}: put cells that contain a comma in quotes.`)
}

type Identity = {
  /** Same for all rows of a product. */
  readonly key: string
  readonly handle: ProductRows['handle']
  readonly isDerived: boolean
}

/** Which product a row belongs to: by its handle, else by the one that its title gives; undefined when it has neither. */
function identify(columns: Columns, cells: readonly string[]): Identity | undefined {
  const own = cellOf(columns, cells, 'handle')
  const text = own || cellOf(columns, cells, 'title')
  if (text === '') return undefined
  const value = own ? parseHandle(own) : handleFromTitle(text)
  // No handle contains an exclamation mark.
  const key = value instanceof Fault ? `!${text.slice(0, refusedKeyMaxLength).toLowerCase()}` : value
  return { key, handle: { value, field: own ? 'handle' : 'title' }, isDerived: own === '' }
}

function cellOf(columns: Columns, cells: readonly string[], field: Field): string {
  const index = columns.indexes.get(field)
  return index === undefined ? '' : unescaped(cells[index] ?? '').trim()
}

/** A row may end before the header does, as spreadsheets and hands leave out the blank cells at its end. */
function rowOf(columns: Columns, { line, cells }: CsvRecord, { isDerived }: Identity): Row {
  const known = new Map<Field, string>()
  for (const [field, index] of columns.indexes) {
    const cell = cells[index]
    if (cell !== undefined && cell.trim() !== '') known.set(field, unescaped(cell))
  }
  return { line, cells: known, isHandleDerived: isDerived }
}

function nameless({ line }: CsvRecord, columns: Columns): CsvItem {
  const column = columns.labels.get('handle') ?? columns.labels.get('title')
  const message = 'Must not be blank: a row belongs to a product by its handle, or by its title where there is no handle.'
  return rejected([{ row: line, ...(column === undefined ? {} : { column }), message }], 1)
}

type Group = { readonly handle: ProductRows['handle']; readonly firstLine: number; rows: Row[]; count: number; held: number }

/** The products whose last row is still to come. */
class OpenGroups {
  private readonly groups = new Map<string, Group>()
  private held = 0

  get size(): number {
    return this.groups.size
  }

  add({ key, handle }: Identity, row: Row): void {
    const group = this.groups.get(key) ?? { handle, firstLine: row.line, rows: [], count: 0, held: 0 }
    this.groups.set(key, group)
    group.count += 1
    if (group.count > rowsMax) this.drop(group)
    else this.hold(group, row)
  }

  take(key: string): Group | undefined {
    const group = this.groups.get(key)
    this.groups.delete(key)
    this.held -= group?.held ?? 0
    return group
  }

  private hold(group: Group, row: Row): void {
    let characters = rowOverheadCharacters
    for (const cell of row.cells.values()) characters += cell.length
    group.rows.push(row)
    group.held += characters
    this.held += characters
    if (this.held > heldMaxCharacters)
      throw invalid(
        `Row ${row.line}: too many products are unfinished here. Sort the file by handle, so that each product's rows are together.`,
      )
  }

  /** The product is lost anyway, so that only its number of rows matters. */
  private drop(group: Group): void {
    this.held -= group.held
    group.held = 0
    group.rows = []
  }
}

function finish(group: Group | undefined, columns: Columns, currency: Currency): CsvItem {
  if (!group) throw changed()
  const { handle, rows, count, firstLine } = group
  if (count <= rowsMax) return buildProduct({ handle, rows }, columns, currency)
  const message = `The product has more than ${rowsMax} rows: it can have at most ${variantsMax} variants and ${imagesMax} images.`
  return rejected([{ row: firstLine, message }], count, handle.value instanceof Fault ? undefined : handle.value)
}
