import type { CsvRecord, CsvSource } from '../../../core/csv-records.ts'
import { unescaped } from '../../../lib/csv-line.ts'
import { type Currency, isCurrency } from '../../../lib/money.ts'
import { imagesMax, variantsMax } from '../products/domain.ts'
import {
  type CsvOptions,
  fileChangedError,
  invalidFile,
  productsMax,
  type RowGroup,
  readTable,
  tooManyError,
  UnfinishedProducts,
} from './csv-batches.ts'
import { Fault, handleFromTitle, parseHandle } from './csv-cells.ts'
import { type Columns, type Field, mapHeader } from './csv-columns.ts'
import type { CsvItem } from './csv-import-items.ts'
import { buildProduct, type ProductRows, type Row, rejectProduct, rowsMax } from './csv-product.ts'
import { isWooHeader, readWooProducts } from './csv-woo.ts'

export type { CsvSource } from '../../../core/csv-records.ts'
export type { CsvLimits } from './csv-batches.ts'

/** Long enough to distinguish refused handles, whose length is not limited. */
const refusedKeyMaxLength = 255

/**
 * Reads the products of a Shopify (old or new dialect) or WooCommerce export, in the order of their last rows.
 * Reads the file twice, because rows of a product need not be adjacent: the first pass finds each product's last row,
 * the second collects its rows until then.
 * @throws AppError INVALID if the file is unusable (a bad row only rejects its product); TOO_LARGE past `limits`; the
 * reason of `signal`
 */
export async function* readProducts(source: CsvSource, options: CsvOptions): AsyncGenerator<CsvItem> {
  if (!isCurrency(options.currency)) throw invalidFile('currency must be an ISO 4217 code.')
  const plan = await findLastRows(source, options)
  if (plan) yield* readGroups(source, plan, options.currency, options)
  else yield* readWooProducts(source, options)
}

type FilePlan = { readonly lastRows: ReadonlyMap<string, number>; readonly rows: number }

/** Returns undefined for a WooCommerce file. */
async function findLastRows(source: CsvSource, { signal, limits, rest }: CsvOptions): Promise<FilePlan | undefined> {
  const lastRows = new Map<string, number>()
  let rows = 0
  const mapAny = (header: readonly string[]) => (isWooHeader(header) ? { count: header.length, isWoo: true as const } : mapHeader(header))
  for await (const { columns, records } of readTable(source, mapAny, { signal, rest })) {
    if ('isWoo' in columns) return undefined
    for (const { row, cells } of records) {
      rows += 1
      const identity = identify(columns, cells)
      if (identity) lastRows.set(identity.key, row)
    }
    if (limits && rows > limits.rows) throw tooManyError('rows', limits.rows)
    if (limits && lastRows.size > limits.products) throw tooManyError('products', limits.products)
    if (lastRows.size > productsMax) throw invalidFile(`The file has more than ${productsMax} products: split it.`)
  }
  return { lastRows, rows }
}

async function* readGroups(
  source: CsvSource,
  plan: FilePlan,
  currency: Currency,
  options: Pick<CsvOptions, 'onProgress' | 'onUnusedColumns' | 'signal' | 'rest'>,
): AsyncGenerator<CsvItem> {
  const groups = new UnfinishedProducts<Row>()
  let rows = 0
  for await (const { columns, records } of readTable(source, mapHeader, options)) {
    for (const record of records) {
      rows += 1
      const identity = identify(columns, record.cells)
      if (!identity) {
        yield rejectNameless(record, columns)
        continue
      }
      const lastRow = plan.lastRows.get(identity.key) ?? 0
      if (record.row > lastRow) throw fileChangedError()
      groups.add(identity, rowOf(columns, record, identity))
      if (record.row === lastRow) yield buildGroup(groups.take(identity.key), columns, currency)
    }
  }
  if (rows !== plan.rows || groups.size > 0) throw fileChangedError()
}

type Identity = {
  /** Equal for all rows of a product. */
  readonly key: string
  readonly handle: ProductRows['handle']
  readonly isDerived: boolean
}

/** Identifies a row's product by its handle, or by the handle of its title; undefined if it has neither. */
function identify(columns: Columns, cells: readonly string[]): Identity | undefined {
  const handleText = cellOf(columns, cells, 'handle')
  const text = handleText || cellOf(columns, cells, 'title')
  if (text === '') return undefined
  const value = handleText ? parseHandle(handleText) : handleFromTitle(text)
  // No handle contains an exclamation mark.
  const key = value instanceof Fault ? `!${text.slice(0, refusedKeyMaxLength).toLowerCase()}` : value
  return { key, handle: { value, field: handleText ? 'handle' : 'title' }, isDerived: handleText === '' }
}

function cellOf(columns: Columns, cells: readonly string[], field: Field): string {
  const index = columns.indexes.get(field)
  return index === undefined ? '' : unescaped(cells[index] ?? '').trim()
}

/** Reads a row, which may end before the header does: spreadsheets leave out trailing blank cells. */
function rowOf(columns: Columns, { row, cells }: CsvRecord, { isDerived }: Identity): Row {
  const filledCells = new Map<Field, string>()
  for (const [field, index] of columns.indexes) {
    const cell = cells[index]
    if (cell !== undefined && cell.trim() !== '') filledCells.set(field, unescaped(cell))
  }
  return { number: row, cells: filledCells, isHandleDerived: isDerived }
}

function rejectNameless({ row }: CsvRecord, columns: Columns): CsvItem {
  const column = columns.labels.get('handle') ?? columns.labels.get('title')
  const message = 'Must not be blank: rows are grouped by the handle, or by the title if there is no handle.'
  return rejectProduct([{ row, ...(column === undefined ? {} : { column }), message }], 1)
}

function buildGroup(group: RowGroup<Row> | undefined, columns: Columns, currency: Currency): CsvItem {
  if (!group) throw fileChangedError()
  const { handle, rows, count, firstRow } = group
  if (count <= rowsMax) return buildProduct({ handle, rows }, columns, currency)
  const message = `The product has more than ${rowsMax} rows: it can have at most ${variantsMax} variants and ${imagesMax} images.`
  return rejectProduct([{ row: firstRow, message }], count, handle.value instanceof Fault ? undefined : handle.value)
}
