/** Reads the product CSV of WooCommerce: each of its products becomes rows of Shopify's, of which one place knows the rules. */
import type { CsvSource } from '../../core/csv-records.ts'
import { unescaped } from '../../lib/csv-line.ts'
import { Fault, handleFromTitle } from './csv-cells.ts'
import type { CsvItem, RowError } from './csv-items.ts'
import { buildProduct, rejected, rowsMax } from './csv-product.ts'
import { type CsvOptions, changed, OpenGroups, productsMax, readTable, tooMany } from './csv-reading.ts'
import { filled, mapWooHeader, type WooColumns, type WooField } from './csv-woo-columns.ts'
import { asShopifyRows, type WooRow } from './csv-woo-rows.ts'
import { variantsMax } from './domain.ts'

export { isWooHeader } from './csv-woo-columns.ts'

/** What the first pass has found out: which product each row is of, and where its last one stands. */
type Plan = {
  readonly productOf: (row: WooRow) => string | undefined
  readonly lastLines: ReadonlyMap<string, number>
  readonly rows: number
}

/**
 * Reads its products, in the order of their last rows: variations may stand before or after what they are of, far from it too. A variation whose
 * product is not in the file is refused by itself.
 * @throws AppError INVALID; TOO_LARGE past `limits`; the reason of `signal`
 */
export async function* readWooProducts(source: CsvSource, options: CsvOptions): AsyncGenerator<CsvItem> {
  const plan = await planOf(source, options)
  const groups = new OpenGroups<WooRow>()
  const handles = new Map<string, number>()
  let rows = 0
  for await (const { columns, records } of readTable(source, mapWooHeader, options)) {
    for (const record of records) {
      rows += 1
      const row = rowOf(columns, record)
      const key = plan.productOf(row)
      if (key === undefined) {
        yield orphan(row, columns)
        continue
      }
      const lastLine = plan.lastLines.get(key) ?? 0
      if (row.line > lastLine) throw changed()
      groups.add({ key, handle: { value: '', field: 'title' } }, row)
      if (row.line === lastLine) yield built(groups.take(key), columns, options.currency, handles)
    }
  }
  if (rows !== plan.rows || groups.size > 0) throw changed()
}

const isVariation = ({ cells }: WooRow): boolean => /\bvariation\b/i.test(cells.get('type') ?? '')
/** By what variations name a product: its SKU, or `id:` and its id. */
const namesOf = ({ cells }: WooRow): string[] => {
  const [id, sku] = [cells.get('id'), cells.get('sku')]
  return [...(id === undefined ? [] : [`id:${id}`]), ...(sku === undefined ? [] : [sku])]
}

async function planOf(source: CsvSource, { signal, limits, rest }: CsvOptions): Promise<Plan> {
  const productByName = new Map<string, string>()
  const lastLines = new Map<string, number>()
  const lastOfParent = new Map<string, number>()
  let rows = 0
  for await (const { columns, records } of readTable(source, mapWooHeader, { signal, rest })) {
    for (const record of records) {
      rows += 1
      const row = rowOf(columns, record)
      if (isVariation(row)) lastOfParent.set(row.cells.get('parent') ?? '', row.line)
      else {
        const key = `row ${row.line}`
        lastLines.set(key, row.line)
        for (const name of namesOf(row)) if (!productByName.has(name)) productByName.set(name, key)
      }
    }
    if (limits && rows > limits.rows) throw tooMany('rows', limits.rows)
    if (limits && lastLines.size > limits.products) throw tooMany('products', limits.products)
    if (lastLines.size > productsMax) throw tooMany('products', productsMax)
  }
  for (const [parent, line] of lastOfParent) {
    const key = productByName.get(parent)
    if (key !== undefined) lastLines.set(key, Math.max(lastLines.get(key) ?? 0, line))
  }
  const productOf = (row: WooRow) => (isVariation(row) ? productByName.get(row.cells.get('parent') ?? '') : `row ${row.line}`)
  return { productOf, lastLines, rows }
}

/** Cells that are not blank, by their columns. */
function rowOf(columns: WooColumns, { line, cells }: { line: number; cells: readonly string[] }): WooRow {
  const known = new Map<WooField, string>()
  for (const [field, index] of columns.indexes) {
    const cell = unescaped(cells[index] ?? '').trim()
    if (cell !== '') known.set(field, cell)
  }
  return { line, cells: known }
}

function orphan({ line }: WooRow, { labels }: WooColumns): CsvItem {
  const column = labels.get('parent')
  const message = 'A variation needs the product that it is of, by its SKU or as id:123, in the same file.'
  return rejected([{ row: line, ...(column === undefined ? {} : { column }), message }], 1)
}

function built(
  group: { readonly rows: readonly WooRow[]; readonly count: number; readonly firstLine: number } | undefined,
  columns: WooColumns,
  currency: string,
  handles: Map<string, number>,
): CsvItem {
  if (!group) throw changed()
  const { rows, count, firstLine } = group
  if (count > rowsMax || rows.length - 1 > variantsMax)
    return rejected([{ row: firstLine, message: `The product has more than ${variantsMax} variations.` }], count)
  const product = rows.find((row) => !isVariation(row))
  if (!product) throw changed()
  const label = (field: WooField) => columns.labels.get(field)
  const refuse = (row: number, field: WooField, message: string): RowError => {
    const column = label(field)
    return { row, ...(column === undefined ? {} : { column }), message }
  }
  const name = product.cells.get('name')
  if (name === undefined) return rejected([refuse(product.line, 'name', 'Must not be blank.')], count)
  const handle = handleFromTitle(name)
  const key = handle instanceof Fault ? undefined : handle
  const earlier = key === undefined ? undefined : handles.get(key)
  // There is no column for handles, and a number behind one would depend on what else is in the file.
  if (earlier !== undefined)
    return rejected(
      [refuse(product.line, 'name', `Gives the same handle as the name in row ${earlier}: rename one of the two.`)],
      count,
      key,
    )
  if (key !== undefined) handles.set(key, product.line)
  const told = asShopifyRows(product, rows.filter(isVariation), columns, refuse)
  if (told.errors.length > 0) return rejected(told.errors, count, key)
  const item = buildProduct({ handle: { value: handle, field: 'title' }, rows: told.rows }, { count: 0, ...filled(columns) }, currency)
  return { ...item, rows: count }
}
