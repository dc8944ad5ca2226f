/** A product of WooCommerce's, with its variations, as rows of Shopify's. */

import { withParagraphs } from '../../../lib/paragraphs.ts'
import type { Field } from './csv-columns.ts'
import type { RowNote } from './csv-import-items.ts'
import type { Row } from './csv-product.ts'
import type { WooColumns, WooField } from './csv-woo-columns.ts'

export type WooRow = { readonly number: number; readonly cells: ReadonlyMap<WooField, string> }
type NoteOf = (row: number, field: WooField, message: string) => RowNote

const optionsMax = 3
const kindOf = ({ cells }: WooRow): string[] =>
  (cells.get('type') ?? 'simple')
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())

/**
 * @returns the rows, or what is wrong with those of the file; and what was not taken of them
 */
export function asShopifyRows(
  product: WooRow,
  variations: readonly WooRow[],
  columns: WooColumns,
  noteOf: NoteOf,
): { rows: Row[]; errors: RowNote[]; notices: RowNote[] } {
  const errors: RowNote[] = []
  const notices: RowNote[] = []
  const report = (row: WooRow, field: WooField, message: string) => void errors.push(noteOf(row.number, field, message))
  const notice = (row: WooRow, field: WooField, message: string) => void notices.push(noteOf(row.number, field, message))
  const kinds = kindOf(product)
  if (kinds.includes('grouped')) report(product, 'type', 'Groups of products are not imported: make a collection of them.')
  else if (kinds.includes('external'))
    report(product, 'type', 'Products that another shop sells are not imported: there is nothing to put into a cart.')
  else if (!kinds.includes('simple') && !kinds.includes('variable')) report(product, 'type', 'Must be simple, variable or variation.')
  const isVariable = kinds.includes('variable')
  if (isHidden(product)) notice(product, 'visibility', 'Products that are hidden from the catalogue are imported as drafts.')
  if (isVariable && variations.length === 0) report(product, 'type', 'A variable product needs its variations, in the same file.')
  if (!isVariable && variations[0]) report(variations[0], 'parent', 'The product that it names is not a variable one.')
  if (errors.length > 0) return { rows: [], errors, notices }

  const options = isVariable ? optionsOf(product, variations, columns, report) : []
  const sold = isVariable ? variations : [product]
  const variants = sold.map((row) => variantCells(row, product, columns, { report, notice }))
  const optionCells = sold.map((row) => (isVariable ? valuesOf(row, options, columns, report) : new Map<Field, string>()))
  const pictures = picturesOf(product)
  const rows: Row[] = []
  for (let nth = 0; nth < Math.max(sold.length, pictures.length, 1); nth++) {
    const own = sold[nth]
    const ofVariant = [...(variants[nth] ?? []), ...(optionCells[nth] ?? [])]
    const picture = pictures[nth]
    const cells = new Map<Field, string>([
      ...(nth === 0 ? productCells(product, options) : []),
      ...ofVariant,
      ...(picture === undefined ? [] : [['imageUrl', picture] as const]),
    ])
    const numbers = own && own !== product ? new Map(ofVariant.map(([field]) => [field, own.number])) : undefined
    rows.push({
      number: nth === 0 ? product.number : (own?.number ?? product.number),
      cells,
      isHandleDerived: true,
      ...(numbers ? { numbers } : {}),
    })
  }
  return { rows, errors, notices }
}

type Report = (row: WooRow, field: WooField, message: string) => void
type Tell = { readonly report: Report; readonly notice: Report }
type Cells = (readonly [Field, string])[]

const isHidden = ({ cells }: Pick<WooRow, 'cells'>): boolean => cells.get('visibility')?.toLowerCase() === 'hidden'

function productCells({ cells }: WooRow, options: readonly string[]): Cells {
  const told: Cells = []
  const put = (field: Field, text: string | undefined) => {
    if (text !== undefined && text !== '') told.push([field, text])
  }
  put('title', cells.get('name'))
  put('descriptionHtml', descriptionOf(cells.get('shortDescription'), cells.get('description')))
  const categories = listed(cells.get('categories')).map((path) => path.split('>').at(-1)?.trim() ?? '')
  put('type', categories[0])
  put('tags', [...listed(cells.get('tags')), ...categories].map((tag) => tag.replaceAll(',', ' ')).join(','))
  put('vendor', listed(cells.get('brands'))[0])
  // -1 is a draft, and 0 is for the shop's people alone. What is hidden from the catalogue has an address there, and none here.
  put('published', cells.get('published') === '1' && !isHidden({ cells }) ? 'TRUE' : 'FALSE')
  for (const [nth, name] of options.entries()) put(`option${nth + 1}Name` as Field, name)
  return told
}

/** Of a variation, what it does not say is what its product says. */
function variantCells(row: WooRow, product: WooRow, { gramsPerUnit, indexes }: WooColumns, tell: Tell): Cells {
  const { report } = tell
  const own = (field: WooField) => row.cells.get(field)
  const inherited = (field: WooField) => {
    const text = own(field)
    return text === undefined || text.toLowerCase() === 'parent' ? product.cells.get(field) : text
  }
  const told: Cells = []
  const put = (field: Field, text: string | undefined) => {
    if (text !== undefined) told.push([field, text])
  }
  put('sku', own('sku'))
  put('barcode', own('barcode'))
  putPrices(row, indexes.has('regularPrice'), put, tell)
  put(
    'weightGrams',
    gramsOf(inherited('weight'), gramsPerUnit, () => report(row, 'weight', 'Must be a plain number of zero or more.')),
  )
  put('requiresShipping', kindOf(row).includes('virtual') ? 'FALSE' : 'TRUE')
  const taxClass = inherited('taxClass')?.toLowerCase()
  // A class that no rate of a shop has would be taxed by the standard ones.
  put('taxable', inherited('taxStatus')?.toLowerCase() === 'none' || taxClass === 'zero-rate' ? 'FALSE' : 'TRUE')
  put('taxClass', taxClass === undefined || taxClass === 'standard' ? undefined : taxClass)
  putStock(row, put, report)
  if (row !== product) {
    const [picture] = picturesOf(row)
    put('variantImage', picture)
  }
  return told
}

/** Refuses a blank price: WooCommerce does not sell such a product, and here it would sell for 0. */
function putPrices(row: WooRow, hasColumn: boolean, put: (field: Field, text: string | undefined) => void, { report, notice }: Tell): void {
  const { cells } = row
  const regular = decimal(cells.get('regularPrice'))
  if (hasColumn && regular === undefined)
    report(row, 'regularPrice', 'Must not be blank: WooCommerce does not sell a product without a price.')
  const sale = decimal(cells.get('salePrice'))
  const isTemporary = cells.has('saleFrom') || cells.has('saleUntil')
  const isNoSale = sale !== undefined && regular !== undefined && Number(sale) >= Number(regular)
  if (sale !== undefined && isTemporary) notice(row, 'salePrice', 'A sale price with dates is not imported: it would stay for ever.')
  else if (isNoSale) notice(row, 'salePrice', 'A sale price that is not below the regular one is not imported.')
  const isOnSale = sale !== undefined && !isTemporary && !isNoSale
  put('price', isOnSale ? sale : regular)
  put('compareAtPrice', isOnSale ? regular : undefined)
}

/** With a comma, as many countries write it. */
const decimal = (text: string | undefined) => (text !== undefined && /^\d+,\d+$/.test(text) ? text.replace(',', '.') : text)

function putStock(row: WooRow, put: (field: Field, text: string | undefined) => void, report: Report): void {
  const { cells } = row
  const stock = cells.get('stock')
  const isThere = cells.get('inStock')?.toLowerCase()
  const isSold = !kindOf(row).includes('variation') || cells.get('published') === undefined || cells.get('published') === '1'
  if (stock?.toLowerCase() === 'parent') {
    report(row, 'stock', 'Counted with its product there: give each variation a count of its own, or none.')
    return
  }
  const isOut = isThere === '0' || isThere === 'outofstock'
  // A variation that is switched off, or out of stock without being counted, is counted here: there is none.
  if (stock !== undefined || isOut || !isSold) put('inventoryTracker', 'woocommerce')
  put('onHand', isSold ? (stock?.replace(/\.0+$/, '') ?? (isOut ? '0' : undefined)) : '0')
  const backorders = cells.get('backorders')?.toLowerCase()
  const mayWait =
    (backorders !== undefined && ['1', 'yes', 'notify'].includes(backorders)) || isThere === 'backorder' || isThere === 'onbackorder'
  put('allowBackorder', isSold && mayWait ? 'continue' : 'deny')
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

/** Attributes of which variations have values, in the order of the product's; others only tell something of it, and are no options. */
function optionsOf(product: WooRow, variations: readonly WooRow[], columns: WooColumns, report: Report): string[] {
  const used = new Map<string, string>()
  for (const row of [product, ...variations])
    for (const nth of columns.attributes) {
      const name = row.cells.get(`attribute${nth}Name`)
      if (name === undefined || used.has(same(name))) continue
      if (variations.some((variation) => attributeOf(variation, name, columns) !== undefined)) used.set(same(name), name)
    }
  const options = [...used.values()]
  if (options.length === 0) report(product, 'type', 'Its variations have no values of attributes: nothing tells them apart.')
  if (options.length > optionsMax) report(product, 'type', `Its variations differ in more than ${optionsMax} attributes.`)
  return options
}

function valuesOf(row: WooRow, options: readonly string[], columns: WooColumns, report: Report): Map<Field, string> {
  const values = new Map<Field, string>()
  for (const [nth, name] of options.slice(0, optionsMax).entries()) {
    const value = attributeOf(row, name, columns)
    if (value === undefined)
      report(row, 'parent', 'Names no value of an attribute that other variations name: one for any value is none here.')
    else values.set(`option${nth + 1}Value` as Field, value)
  }
  return values
}

function attributeOf({ cells }: WooRow, name: string, { attributes }: WooColumns): string | undefined {
  const nth = attributes.find((one) => same(cells.get(`attribute${one}Name`) ?? '') === same(name))
  const value = nth === undefined ? undefined : cells.get(`attribute${nth}Values`)
  return value?.replaceAll('\\,', ',')
}

const same = (name: string) => name.trim().toLowerCase()

/** What stands between commas; one that is part of a name has a backslash before it. */
const listed = (text = ''): string[] =>
  text
    .split(/(?<!\\),/)
    .map((part) => part.replaceAll('\\,', ',').trim())
    .filter((part) => part !== '')

/** Addresses may hold commas. */
const picturesOf = ({ cells }: WooRow): string[] =>
  (cells.get('images') ?? '')
    .split(/,\s*(?=https?:\/\/)/i)
    .map((url) => url.trim())
    .filter((url) => url !== '')

/** Both, the short one first. The exporter writes line ends as `\\n`. */
function descriptionOf(...texts: (string | undefined)[]): string | undefined {
  const parts = texts.flatMap((text) => (text === undefined ? [] : [withParagraphs(text.replaceAll('\\n', '\n'))]))
  return parts.length === 0 ? undefined : parts.join('\n')
}
