import type { CsvRecord, CsvSource } from '../../../core/csv-records.ts'
import { unescaped } from '../../../lib/csv-line.ts'
import { type Currency, isCurrency } from '../../../lib/money.ts'
import { imagesMax, variantsMax } from '../products/domain.ts'
import { type CsvOptions, changed, type Group, invalid, OpenGroups, productsMax, readTable, tooMany } from './csv-batches.ts'
import { Fault, handleFromTitle, parseHandle } from './csv-cells.ts'
import { type Columns, type Field, mapHeader } from './csv-columns.ts'
import type { CsvItem } from './csv-import-items.ts'
import { buildProduct, type ProductRows, type Row, rejected, rowsMax } from './csv-product.ts'
import { isWooHeader, readWooProducts } from './csv-woo.ts'

export type { CsvSource } from '../../../core/csv-records.ts'
export type { CsvLimits, CsvOptions } from './csv-batches.ts'

/** Long enough to tell apart the handles that are refused, whose length nothing else limits. */
const refusedKeyMaxLength = 255

/**
 * Reads the products of a Shopify export, old or new dialect, or of a WooCommerce export, in the order of their last rows. The source is read
 * twice: rows of one product need not be adjacent, so the first pass finds each product's last row, and the second holds
 * a product's rows until then. What is wrong with the file as a whole is thrown as `INVALID` before the first product;
 * what is wrong with a row rejects its product, and the others go on.
 * @throws AppError INVALID; TOO_LARGE past `limits`; the reason of `signal`
 */
export async function* readProducts(source: CsvSource, options: CsvOptions): AsyncGenerator<CsvItem> {
  if (!isCurrency(options.currency)) throw invalid('currency must be an ISO 4217 code.')
  const plan = await findLastRows(source, options)
  if (plan) yield* assemble(source, plan, options.currency, options)
  else yield* readWooProducts(source, options)
}

type Plan = { readonly lastRows: ReadonlyMap<string, number>; readonly rows: number }

/** Undefined for a file of WooCommerce's. */
async function findLastRows(source: CsvSource, { signal, limits, rest }: CsvOptions): Promise<Plan | undefined> {
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
    if (limits && rows > limits.rows) throw tooMany('rows', limits.rows)
    if (limits && lastRows.size > limits.products) throw tooMany('products', limits.products)
    if (lastRows.size > productsMax) throw invalid(`The file has more than ${productsMax} products: split it.`)
  }
  return { lastRows, rows }
}

async function* assemble(
  source: CsvSource,
  plan: Plan,
  currency: Currency,
  how: Pick<CsvOptions, 'onProgress' | 'onUnusedColumns' | 'signal' | 'rest'>,
): AsyncGenerator<CsvItem> {
  const groups = new OpenGroups<Row>()
  let rows = 0
  for await (const { columns, records } of readTable(source, mapHeader, how)) {
    for (const record of records) {
      rows += 1
      const identity = identify(columns, record.cells)
      if (!identity) {
        yield nameless(record, columns)
        continue
      }
      const lastRow = plan.lastRows.get(identity.key) ?? 0
      if (record.row > lastRow) throw changed()
      groups.add(identity, rowOf(columns, record, identity))
      if (record.row === lastRow) yield finish(groups.take(identity.key), columns, currency)
    }
  }
  if (rows !== plan.rows || groups.size > 0) throw changed()
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
function rowOf(columns: Columns, { row, cells }: CsvRecord, { isDerived }: Identity): Row {
  const known = new Map<Field, string>()
  for (const [field, index] of columns.indexes) {
    const cell = cells[index]
    if (cell !== undefined && cell.trim() !== '') known.set(field, unescaped(cell))
  }
  return { number: row, cells: known, isHandleDerived: isDerived }
}

function nameless({ row }: CsvRecord, columns: Columns): CsvItem {
  const column = columns.labels.get('handle') ?? columns.labels.get('title')
  const message = 'Must not be blank: a row belongs to a product by its handle, or by its title where there is no handle.'
  return rejected([{ row, ...(column === undefined ? {} : { column }), message }], 1)
}

function finish(group: Group<Row> | undefined, columns: Columns, currency: Currency): CsvItem {
  if (!group) throw changed()
  const { handle, rows, count, firstRow } = group
  if (count <= rowsMax) return buildProduct({ handle, rows }, columns, currency)
  const message = `The product has more than ${rowsMax} rows: it can have at most ${variantsMax} variants and ${imagesMax} images.`
  return rejected([{ row: firstRow, message }], count, handle.value instanceof Fault ? undefined : handle.value)
}
