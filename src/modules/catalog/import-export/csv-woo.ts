/** Reads WooCommerce's product CSV by converting each product to Shopify rows, so that one set of rules applies. */
import type { CsvSource, RowNote } from '../../../core/csv-records.ts'
import { unescaped } from '../../../lib/csv-line.ts'
import { variantsMax } from '../products/domain.ts'
import { type CsvOptions, fileChangedError, productsMax, readTable, tooManyError, UnfinishedProducts } from './csv-batches.ts'
import { Fault, handleFromTitle } from './csv-cells.ts'
import type { CsvItem } from './csv-import-items.ts'
import { buildProduct, rejectProduct, rowsMax } from './csv-product.ts'
import { mapWooHeader, shopifyColumnsOf, type WooColumns, type WooField } from './csv-woo-columns.ts'
import { toShopifyRows, type WooRow } from './csv-woo-rows.ts'

export { isWooHeader } from './csv-woo-columns.ts'

/** Result of the first pass: the product of each row, and the last row of each product. */
type FilePlan = {
  readonly productOf: (row: WooRow) => string | undefined
  readonly lastRows: ReadonlyMap<string, number>
  /** Numbered handles of products whose name an earlier product has. */
  readonly numbered: ReadonlyMap<string, { readonly handle: string; readonly earlier: number }>
  readonly rows: number
}

/**
 * Reads products in the order of their last rows. Variations may stand anywhere in the file; one whose product is
 * missing is rejected alone.
 * @throws AppError INVALID; TOO_LARGE past `limits`; the reason of `signal`
 */
export async function* readWooProducts(source: CsvSource, options: CsvOptions): AsyncGenerator<CsvItem> {
  const plan = await planFile(source, options)
  const groups = new UnfinishedProducts<WooRow>()
  let rows = 0
  for await (const { columns, records } of readTable(source, mapWooHeader, options)) {
    for (const record of records) {
      rows += 1
      const row = rowOf(columns, record)
      const key = plan.productOf(row)
      if (key === undefined) {
        yield rejectOrphan(row, columns)
        continue
      }
      const lastRow = plan.lastRows.get(key) ?? 0
      if (row.number > lastRow) throw fileChangedError()
      groups.add({ key, handle: { value: '', field: 'title' } }, row)
      if (row.number === lastRow) yield buildWooProduct(groups.take(key), columns, options.currency, plan.numbered.get(key))
    }
  }
  if (rows !== plan.rows || groups.size > 0) throw fileChangedError()
}

const isVariation = ({ cells }: WooRow): boolean => /\bvariation\b/i.test(cells.get('type') ?? '')
/** The names by which variations refer to a product: its SKU, or `id:` and its id. */
const namesOf = ({ cells }: WooRow): string[] => {
  const [id, sku] = [cells.get('id'), cells.get('sku')]
  return [...(id === undefined ? [] : [`id:${id}`]), ...(sku === undefined ? [] : [sku])]
}

async function planFile(source: CsvSource, { signal, limits, rest }: CsvOptions): Promise<FilePlan> {
  const productByName = new Map<string, string>()
  const lastRows = new Map<string, number>()
  const lastOfParent = new Map<string, number>()
  const products: NamedProduct[] = []
  let rows = 0
  for await (const { columns, records } of readTable(source, mapWooHeader, { signal, rest })) {
    for (const record of records) {
      rows += 1
      const row = rowOf(columns, record)
      if (isVariation(row)) lastOfParent.set(row.cells.get('parent') ?? '', row.number)
      else {
        const key = `row ${row.number}`
        lastRows.set(key, row.number)
        products.push({
          key,
          row: row.number,
          id: Number(row.cells.get('id')) || Infinity,
          handle: handleFromTitle(row.cells.get('name') ?? ''),
        })
        for (const name of namesOf(row)) if (!productByName.has(name)) productByName.set(name, key)
      }
    }
    if (limits && rows > limits.rows) throw tooManyError('rows', limits.rows)
    if (limits && lastRows.size > limits.products) throw tooManyError('products', limits.products)
    if (lastRows.size > productsMax) throw tooManyError('products', productsMax)
  }
  for (const [parent, lastRow] of lastOfParent) {
    const key = productByName.get(parent)
    if (key !== undefined) lastRows.set(key, Math.max(lastRows.get(key) ?? 0, lastRow))
  }
  const productOf = (row: WooRow) => (isVariation(row) ? productByName.get(row.cells.get('parent') ?? '') : `row ${row.number}`)
  return { productOf, lastRows, numbered: numberHandles(products), rows }
}

/** `id`: infinite if the file has none. */
type NamedProduct = { readonly key: string; readonly row: number; readonly id: number; readonly handle: string | Fault }

/**
 * Numbers the handles of products with the same name, as Shopify does: `candle`, `candle-1`, `candle-2`. They are in
 * the order of their ids, so that a file with other rows first gives them the same handles; without ids, in row order.
 */
function numberHandles(products: NamedProduct[]): FilePlan['numbered'] {
  const numbered = new Map<string, { readonly handle: string; readonly earlier: number }>()
  /** The row of the product that has the handle. */
  const rowOf = new Map<string, number>()
  const counts = new Map<string, number>()
  for (const { key, row, handle: baseHandle } of products.sort((a, b) => a.id - b.id || a.row - b.row)) {
    if (baseHandle instanceof Fault) continue
    const earlier = rowOf.get(baseHandle)
    let handle = baseHandle
    for (let nth = counts.get(baseHandle) ?? 1; rowOf.has(handle); nth++) {
      handle = `${baseHandle}-${nth}`
      counts.set(baseHandle, nth + 1)
    }
    rowOf.set(handle, row)
    if (earlier !== undefined) numbered.set(key, { handle, earlier })
  }
  return numbered
}

/** Collects the cells that are not blank. */
function rowOf(columns: WooColumns, { row, cells }: { row: number; cells: readonly string[] }): WooRow {
  const filledCells = new Map<WooField, string>()
  for (const [field, index] of columns.indexes) {
    const cell = unescaped(cells[index] ?? '').trim()
    if (cell !== '') filledCells.set(field, cell)
  }
  return { number: row, cells: filledCells }
}

function rejectOrphan({ number }: WooRow, { labels }: WooColumns): CsvItem {
  const column = labels.get('parent')
  const message = 'Must name the product of the variation, by SKU or as id:123, and the file must contain it.'
  return rejectProduct([{ row: number, ...(column === undefined ? {} : { column }), message }], 1)
}

function buildWooProduct(
  group: { readonly rows: readonly WooRow[]; readonly count: number; readonly firstRow: number } | undefined,
  columns: WooColumns,
  currency: string,
  numbered: { readonly handle: string; readonly earlier: number } | undefined,
): CsvItem {
  if (!group) throw fileChangedError()
  const { rows, count, firstRow } = group
  if (count > rowsMax || rows.length - 1 > variantsMax)
    return rejectProduct([{ row: firstRow, message: `The product has more than ${variantsMax} variations.` }], count)
  const product = rows.find((row) => !isVariation(row))
  if (!product) throw fileChangedError()
  const noteOf = (row: number, field: WooField, message: string): RowNote => {
    const column = columns.labels.get(field)
    return { row, ...(column === undefined ? {} : { column }), message }
  }
  const name = product.cells.get('name')
  if (name === undefined) return rejectProduct([noteOf(product.number, 'name', 'Must not be blank.')], count)
  const handle = numbered?.handle ?? handleFromTitle(name)
  const key = handle instanceof Fault ? undefined : handle
  const converted = toShopifyRows(product, rows.filter(isVariation), columns, noteOf)
  if (converted.errors.length > 0) return rejectProduct(converted.errors, count, key)
  const item = buildProduct(
    { handle: { value: handle, field: 'title' }, rows: converted.rows },
    { count: 0, unused: [], ...shopifyColumnsOf(columns) },
    currency,
  )
  if (item.kind === 'rejected') return { ...item, rows: count }
  if (numbered)
    converted.notices.push(noteOf(product.number, 'name', `Row ${numbered.earlier} has the same name: a number was added to the handle.`))
  const notices = [...converted.notices.map((one) => ({ ...one, handle: item.product.handle })), ...(item.product.notices ?? [])]
  return { ...item, product: notices.length > 0 ? { ...item.product, notices } : item.product, rows: count }
}
