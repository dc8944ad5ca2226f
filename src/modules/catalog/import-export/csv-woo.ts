/** Reads the product CSV of WooCommerce: each of its products becomes rows of Shopify's, of which one place knows the rules. */
import type { CsvSource } from '../../../core/csv-records.ts'
import { unescaped } from '../../../lib/csv-line.ts'
import { variantsMax } from '../products/domain.ts'
import { type CsvOptions, changed, OpenGroups, productsMax, readTable, tooMany } from './csv-batches.ts'
import { Fault, handleFromTitle } from './csv-cells.ts'
import type { CsvItem, RowNote } from './csv-import-items.ts'
import { buildProduct, rejected, rowsMax } from './csv-product.ts'
import { filled, mapWooHeader, type WooColumns, type WooField } from './csv-woo-columns.ts'
import { asShopifyRows, type WooRow } from './csv-woo-rows.ts'

export { isWooHeader } from './csv-woo-columns.ts'

/** What the first pass has found out: which product each row is of, and where its last one stands. */
type Plan = {
  readonly productOf: (row: WooRow) => string | undefined
  readonly lastRows: ReadonlyMap<string, number>
  /** Handles of products whose names another product before them has. */
  readonly numbered: ReadonlyMap<string, { readonly handle: string; readonly earlier: number }>
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
      const lastRow = plan.lastRows.get(key) ?? 0
      if (row.number > lastRow) throw changed()
      groups.add({ key, handle: { value: '', field: 'title' } }, row)
      if (row.number === lastRow) yield built(groups.take(key), columns, options.currency, plan.numbered.get(key))
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
  const lastRows = new Map<string, number>()
  const lastOfParent = new Map<string, number>()
  const handles = new HandleNumbers()
  let rows = 0
  for await (const { columns, records } of readTable(source, mapWooHeader, { signal, rest })) {
    for (const record of records) {
      rows += 1
      const row = rowOf(columns, record)
      if (isVariation(row)) lastOfParent.set(row.cells.get('parent') ?? '', row.number)
      else {
        const key = `row ${row.number}`
        lastRows.set(key, row.number)
        handles.add(key, row)
        for (const name of namesOf(row)) if (!productByName.has(name)) productByName.set(name, key)
      }
    }
    if (limits && rows > limits.rows) throw tooMany('rows', limits.rows)
    if (limits && lastRows.size > limits.products) throw tooMany('products', limits.products)
    if (lastRows.size > productsMax) throw tooMany('products', productsMax)
  }
  for (const [parent, last] of lastOfParent) {
    const key = productByName.get(parent)
    if (key !== undefined) lastRows.set(key, Math.max(lastRows.get(key) ?? 0, last))
  }
  const productOf = (row: WooRow) => (isVariation(row) ? productByName.get(row.cells.get('parent') ?? '') : `row ${row.number}`)
  return { productOf, lastRows, numbered: handles.numbered, rows }
}

/**
 * Numbers the handles of products that share a name, in the order of their rows, as Shopify does: `candle`, `candle-1`,
 * `candle-2`.
 */
class HandleNumbers {
  readonly numbered = new Map<string, { readonly handle: string; readonly earlier: number }>()
  /** The row of the product that has a handle. */
  private readonly rowOf = new Map<string, number>()
  private readonly counts = new Map<string, number>()

  add(key: string, { number, cells }: WooRow): void {
    const plain = handleFromTitle(cells.get('name') ?? '')
    if (plain instanceof Fault) return
    const earlier = this.rowOf.get(plain)
    let handle = plain
    for (let nth = this.counts.get(plain) ?? 1; this.rowOf.has(handle); nth++) {
      handle = `${plain}-${nth}`
      this.counts.set(plain, nth + 1)
    }
    this.rowOf.set(handle, number)
    if (earlier !== undefined) this.numbered.set(key, { handle, earlier })
  }
}

/** Cells that are not blank, by their columns. */
function rowOf(columns: WooColumns, { row, cells }: { row: number; cells: readonly string[] }): WooRow {
  const known = new Map<WooField, string>()
  for (const [field, index] of columns.indexes) {
    const cell = unescaped(cells[index] ?? '').trim()
    if (cell !== '') known.set(field, cell)
  }
  return { number: row, cells: known }
}

function orphan({ number }: WooRow, { labels }: WooColumns): CsvItem {
  const column = labels.get('parent')
  const message = 'A variation needs the product that it is of, by its SKU or as id:123, in the same file.'
  return rejected([{ row: number, ...(column === undefined ? {} : { column }), message }], 1)
}

function built(
  group: { readonly rows: readonly WooRow[]; readonly count: number; readonly firstRow: number } | undefined,
  columns: WooColumns,
  currency: string,
  numbered: { readonly handle: string; readonly earlier: number } | undefined,
): CsvItem {
  if (!group) throw changed()
  const { rows, count, firstRow } = group
  if (count > rowsMax || rows.length - 1 > variantsMax)
    return rejected([{ row: firstRow, message: `The product has more than ${variantsMax} variations.` }], count)
  const product = rows.find((row) => !isVariation(row))
  if (!product) throw changed()
  const noteOf = (row: number, field: WooField, message: string): RowNote => {
    const column = columns.labels.get(field)
    return { row, ...(column === undefined ? {} : { column }), message }
  }
  const name = product.cells.get('name')
  if (name === undefined) return rejected([noteOf(product.number, 'name', 'Must not be blank.')], count)
  const handle = numbered?.handle ?? handleFromTitle(name)
  const key = handle instanceof Fault ? undefined : handle
  const read = asShopifyRows(product, rows.filter(isVariation), columns, noteOf)
  if (read.errors.length > 0) return rejected(read.errors, count, key)
  const item = buildProduct(
    { handle: { value: handle, field: 'title' }, rows: read.rows },
    { count: 0, unused: [], ...filled(columns) },
    currency,
  )
  if (item.kind === 'rejected') return { ...item, rows: count }
  if (numbered) read.notices.push(noteOf(product.number, 'name', `Row ${numbered.earlier} has the same name: the handle got a number.`))
  const notices = [...read.notices.map((one) => ({ ...one, handle: item.product.handle })), ...(item.product.notices ?? [])]
  return { ...item, product: notices.length > 0 ? { ...item.product, notices } : item.product, rows: count }
}
