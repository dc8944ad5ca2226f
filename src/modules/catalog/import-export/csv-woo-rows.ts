/** Converts a WooCommerce product and its variations to Shopify rows. */
import type { RowNote } from '../../../core/csv-records.ts'
import { withParagraphs } from '../../../lib/paragraphs.ts'
import { optionsMax } from '../product-options/domain.ts'
import type { Field } from './csv-columns.ts'
import type { Row } from './csv-product.ts'
import type { WooColumns, WooField } from './csv-woo-columns.ts'

export type WooRow = { readonly number: number; readonly cells: ReadonlyMap<WooField, string> }
type NoteOf = (row: number, field: WooField, message: string) => RowNote

const productKindsOf = ({ cells }: WooRow): string[] =>
  (cells.get('type') ?? 'simple')
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())

/** Converts a product to Shopify rows, or returns errors. Notices name values that were not imported. */
export function toShopifyRows(
  product: WooRow,
  variations: readonly WooRow[],
  columns: WooColumns,
  noteOf: NoteOf,
): { rows: Row[]; errors: RowNote[]; notices: RowNote[] } {
  const errors: RowNote[] = []
  const notices: RowNote[] = []
  const report = (row: WooRow, field: WooField, message: string) => void errors.push(noteOf(row.number, field, message))
  const notice = (row: WooRow, field: WooField, message: string) => void notices.push(noteOf(row.number, field, message))
  const kinds = productKindsOf(product)
  if (kinds.includes('grouped')) report(product, 'type', 'Grouped products are not imported. Create a collection instead.')
  else if (kinds.includes('external'))
    report(product, 'type', 'External products are not imported, because they are sold on another website.')
  else if (!kinds.includes('simple') && !kinds.includes('variable')) report(product, 'type', 'Must be simple, variable or variation.')
  const isVariable = kinds.includes('variable')
  if (isHidden(product)) notice(product, 'visibility', 'Products that are hidden from the catalogue are imported as drafts.')
  if (isVariable && variations.length === 0) report(product, 'type', 'A variable product needs its variations, in the same file.')
  if (!isVariable && variations[0]) report(variations[0], 'parent', 'Must name a variable product.')
  if (errors.length > 0) return { rows: [], errors, notices }

  const options = isVariable ? optionsOf(product, variations, columns, report) : []
  const soldRows = isVariable ? variations : [product]
  const variants = soldRows.map((row) => variantCells(row, product, columns, { report, notice }))
  const optionCells = soldRows.map((row) => (isVariable ? valuesOf(row, options, columns, report) : new Map<Field, string>()))
  const pictures = picturesOf(product)
  const rows: Row[] = []
  for (let nth = 0; nth < Math.max(soldRows.length, pictures.length, 1); nth++) {
    const variantRow = soldRows[nth]
    const ofVariant = [...(variants[nth] ?? []), ...(optionCells[nth] ?? [])]
    const imageUrl = pictures[nth]
    const cells = new Map<Field, string>([
      ...(nth === 0 ? productCells(product, options) : []),
      ...ofVariant,
      ...(imageUrl === undefined ? [] : [['imageUrl', imageUrl] as const]),
    ])
    const numbers = variantRow && variantRow !== product ? new Map(ofVariant.map(([field]) => [field, variantRow.number])) : undefined
    rows.push({
      number: nth === 0 ? product.number : (variantRow?.number ?? product.number),
      cells,
      isHandleDerived: true,
      ...(numbers ? { numbers } : {}),
    })
  }
  return { rows, errors, notices }
}

type Report = (row: WooRow, field: WooField, message: string) => void
type Reporters = { readonly report: Report; readonly notice: Report }
type Cells = (readonly [Field, string])[]

const isHidden = ({ cells }: Pick<WooRow, 'cells'>): boolean => cells.get('visibility')?.toLowerCase() === 'hidden'

function productCells({ cells }: WooRow, options: readonly string[]): Cells {
  const result: Cells = []
  const put = (field: Field, text: string | undefined) => {
    if (text !== undefined && text !== '') result.push([field, text])
  }
  put('title', cells.get('name'))
  put('descriptionHtml', descriptionOf(cells.get('shortDescription'), cells.get('description')))
  const categories = splitList(cells.get('categories')).map((path) => path.split('>').at(-1)?.trim() ?? '')
  put('type', categories[0])
  put('tags', [...splitList(cells.get('tags')), ...categories].map((tag) => tag.replaceAll(',', ' ')).join(','))
  put('vendor', splitList(cells.get('brands'))[0])
  // -1 is a draft and 0 is private. Products hidden from the catalogue have a public URL in WooCommerce but not in
  // souk.
  put('published', cells.get('published') === '1' && !isHidden({ cells }) ? 'TRUE' : 'FALSE')
  for (const [nth, name] of options.entries()) put(`option${nth + 1}Name` as Field, name)
  return result
}

/** Builds a variant's cells. A variation inherits blank values from its product. */
function variantCells(row: WooRow, product: WooRow, { gramsPerUnit, indexes }: WooColumns, reporters: Reporters): Cells {
  const { report } = reporters
  const cellOf = (field: WooField) => row.cells.get(field)
  const cellOrParentCell = (field: WooField) => {
    const text = cellOf(field)
    return text === undefined || text.toLowerCase() === 'parent' ? product.cells.get(field) : text
  }
  const result: Cells = []
  const put = (field: Field, text: string | undefined) => {
    if (text !== undefined) result.push([field, text])
  }
  put('sku', cellOf('sku'))
  put('barcode', cellOf('barcode'))
  putPrices(row, indexes.has('regularPrice'), put, reporters)
  put(
    'weightGrams',
    gramsOf(cellOrParentCell('weight'), gramsPerUnit, () => report(row, 'weight', 'Must be a plain number of zero or more.')),
  )
  put('requiresShipping', productKindsOf(row).includes('virtual') ? 'FALSE' : 'TRUE')
  const taxClass = cellOrParentCell('taxClass')?.toLowerCase()
  // A zero-rate class counts as untaxed: an unknown class would be taxed by the standard rates.
  put('taxable', cellOrParentCell('taxStatus')?.toLowerCase() === 'none' || taxClass === 'zero-rate' ? 'FALSE' : 'TRUE')
  put('taxClass', taxClass === undefined || taxClass === 'standard' ? undefined : taxClass)
  putStock(row, indexes, put, reporters)
  if (row !== product) {
    const [imageUrl] = picturesOf(row)
    put('variantImage', imageUrl)
  }
  return result
}

/** Refuses a blank price: WooCommerce does not sell such a product, and souk would sell it for 0. */
function putPrices(
  row: WooRow,
  hasColumn: boolean,
  put: (field: Field, text: string | undefined) => void,
  { report, notice }: Reporters,
): void {
  const { cells } = row
  const regular = decimal(cells.get('regularPrice'))
  if (hasColumn && regular === undefined)
    report(row, 'regularPrice', 'Must not be blank: WooCommerce does not sell a product without a price.')
  const sale = decimal(cells.get('salePrice'))
  const isTemporary = cells.has('saleFrom') || cells.has('saleUntil')
  const isNotLower = sale !== undefined && regular !== undefined && Number(sale) >= Number(regular)
  if (sale !== undefined && isTemporary) notice(row, 'salePrice', 'A sale price with dates is not imported, because it would not end.')
  else if (isNotLower) notice(row, 'salePrice', 'A sale price that is not below the regular one is not imported.')
  const isOnSale = sale !== undefined && !isTemporary && !isNotLower
  put('price', isOnSale ? sale : regular)
  put('compareAtPrice', isOnSale ? regular : undefined)
}

/** Accepts a decimal comma, which many countries use. */
const decimal = (text: string | undefined) => (text !== undefined && /^\d+,\d+$/.test(text) ? text.replace(',', '.') : text)

/** A variation is disabled if its `Published` is not 1, also if it is blank. */
const isVariantSold = (row: WooRow, indexes: WooColumns['indexes']): boolean =>
  !productKindsOf(row).includes('variation') || !indexes.has('published') || row.cells.get('published') === '1'

function putStock(
  row: WooRow,
  indexes: WooColumns['indexes'],
  put: (field: Field, text: string | undefined) => void,
  { report, notice }: Reporters,
): void {
  const { cells } = row
  const isSold = isVariantSold(row, indexes)
  const stock = cells.get('stock')
  const stockStatus = cells.get('inStock')?.toLowerCase()
  if (stock?.toLowerCase() === 'parent') {
    report(row, 'stock', 'WooCommerce counts this stock for the whole product. Give each variation its own stock, or none.')
    return
  }
  // WooCommerce's importer reads a blank cell as out of stock.
  const isBlank = indexes.has('inStock') && stockStatus === undefined && stock === undefined
  if (isBlank) notice(row, 'inStock', 'Imported as out of stock: neither this cell nor the stock has a value.')
  const isOutOfStock = stockStatus === '0' || stockStatus === 'outofstock' || isBlank
  // Disabled variations, and untracked ones that are out of stock, are imported with tracked stock of 0.
  if (stock !== undefined || isOutOfStock || !isSold) put('inventoryTracker', 'woocommerce')
  put('onHand', isSold ? (stock?.replace(/\.0+$/, '') ?? (isOutOfStock ? '0' : undefined)) : '0')
  const backorders = cells.get('backorders')?.toLowerCase()
  const allowsBackorders =
    (backorders !== undefined && ['1', 'yes', 'notify'].includes(backorders)) ||
    stockStatus === 'backorder' ||
    stockStatus === 'onbackorder'
  put('allowBackorder', isSold && allowsBackorders ? 'continue' : 'deny')
  put('lowStockAt', cells.get('lowStock'))
}

function gramsOf(text: string | undefined, gramsPerUnit: number, refuse: () => void): string | undefined {
  const plain = decimal(text)
  if (plain === undefined) return undefined
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(plain)) {
    refuse()
    return undefined
  }
  return String(Math.round(Number(plain) * gramsPerUnit))
}

/**
 * Returns the attributes that variations have values for, in the product's order. Other attributes are only
 * descriptive.
 */
function optionsOf(product: WooRow, variations: readonly WooRow[], columns: WooColumns, report: Report): string[] {
  const used = new Map<string, string>()
  for (const row of [product, ...variations])
    for (const nth of columns.attributes) {
      const name = row.cells.get(`attribute${nth}Name`)
      if (name === undefined || used.has(normalName(name))) continue
      if (variations.some((variation) => attributeOf(variation, name, columns) !== undefined)) used.set(normalName(name), name)
    }
  const options = [...used.values()]
  if (options.length === 0) report(product, 'type', 'Its variations have no attribute values that distinguish them.')
  if (options.length > optionsMax) report(product, 'type', `Its variations differ in more than ${optionsMax} attributes.`)
  return options
}

function valuesOf(row: WooRow, options: readonly string[], columns: WooColumns, report: Report): Map<Field, string> {
  const values = new Map<Field, string>()
  for (const [nth, name] of options.slice(0, optionsMax).entries()) {
    const value = attributeOf(row, name, columns)
    if (value === undefined)
      report(row, 'parent', 'Must have a value for each attribute of the other variations: a variation for any value is not supported.')
    else values.set(`option${nth + 1}Value` as Field, value)
  }
  return values
}

function attributeOf({ cells }: WooRow, name: string, { attributes }: WooColumns): string | undefined {
  const nth = attributes.find((one) => normalName(cells.get(`attribute${one}Name`) ?? '') === normalName(name))
  const value = nth === undefined ? undefined : cells.get(`attribute${nth}Values`)
  return value?.replaceAll('\\,', ',')
}

const normalName = (name: string) => name.trim().toLowerCase()

/** Splits a list at commas. A comma in a name is escaped with a backslash. */
const splitList = (text = ''): string[] =>
  text
    .split(/(?<!\\),/)
    .map((part) => part.replaceAll('\\,', ',').trim())
    .filter((part) => part !== '')

/** Splits only before `http`, because URLs may contain commas. */
const picturesOf = ({ cells }: WooRow): string[] =>
  (cells.get('images') ?? '')
    .split(/,\s*(?=https?:\/\/)/i)
    .map((url) => url.trim())
    .filter((url) => url !== '')

/** Joins both descriptions, the short one first. */
function descriptionOf(...texts: (string | undefined)[]): string | undefined {
  const parts = texts.flatMap((text) => (text === undefined ? [] : [withParagraphs(withLineEnds(text))]))
  return parts.length === 0 ? undefined : parts.join('\n')
}

/** The exporter writes a line end as a backslash and an `n`, and these two characters with one more backslash. */
const withLineEnds = (text: string): string => text.replace(/(\\?)\\n/g, (_, backslash: string) => (backslash ? '\\n' : '\n'))
