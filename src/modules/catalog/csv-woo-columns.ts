/** The columns of WooCommerce's product CSV. */
import type { Field } from './csv-columns.ts'
import { invalid } from './csv-reading.ts'

/** What souk reads of them, as WooCommerce calls them. */
const names = {
  id: 'ID',
  type: 'Type',
  sku: 'SKU',
  barcode: 'GTIN, UPC, EAN, or ISBN',
  name: 'Name',
  published: 'Published',
  visibility: 'Visibility in catalog',
  shortDescription: 'Short description',
  description: 'Description',
  saleFrom: 'Date sale price starts',
  saleUntil: 'Date sale price ends',
  taxStatus: 'Tax status',
  taxClass: 'Tax class',
  inStock: 'In stock?',
  stock: 'Stock',
  lowStock: 'Low stock amount',
  backorders: 'Backorders allowed?',
  salePrice: 'Sale price',
  regularPrice: 'Regular price',
  categories: 'Categories',
  tags: 'Tags',
  images: 'Images',
  parent: 'Parent',
  brands: 'Brands',
} as const
export type WooField = keyof typeof names | 'weight' | `attribute${number}Name` | `attribute${number}Values`

export type WooColumns = {
  readonly count: number
  readonly indexes: ReadonlyMap<WooField, number>
  /** What the columns are called in the file. */
  readonly labels: ReadonlyMap<WooField, string>
  /** Grams in the unit that weights have in this file. */
  readonly gramsPerUnit: number
  /** Numbers of the attributes that it has columns for. */
  readonly attributes: readonly number[]
}

/** An avoirdupois pound is 0.45359237 kg exactly, and an ounce a sixteenth of it. */
const gramsPer: Readonly<Record<string, number>> = { kg: 1_000, g: 1, lbs: 453.59237, oz: 28.349523125 }

const normalName = (name: string) => name.trim().replace(/\s+/g, ' ').toLowerCase()
const fieldByName = new Map<string, WooField>(Object.entries(names).map(([field, name]) => [normalName(name), field as WooField]))

/** Whether a header is WooCommerce's: it says what kind each row is of, and calls titles names. */
export function isWooHeader(header: readonly string[]): boolean {
  const has = new Set(header.map(normalName))
  return has.has('name') && has.has('type') && !has.has('title') && !has.has('handle') && !has.has('url handle')
}

/** Finds the known columns in a header. @throws AppError INVALID where it has one twice */
export function mapWooHeader(header: readonly string[]): WooColumns {
  const indexes = new Map<WooField, number>()
  const labels = new Map<WooField, string>()
  let gramsPerUnit = 1
  const attributes: number[] = []
  for (const [index, cell] of header.entries()) {
    const name = normalName(cell)
    const [, unit] = /^weight \((kg|g|lbs|oz)\)$/.exec(name) ?? []
    const [, nth, part] = /^attribute ([1-9]\d?) (name|value\(s\))$/.exec(name) ?? []
    const attribute = nth === undefined ? undefined : (`attribute${Number(nth)}${part === 'name' ? 'Name' : 'Values'}` as const)
    const field = unit === undefined ? (attribute ?? fieldByName.get(name)) : 'weight'
    if (field === undefined) continue
    if (indexes.has(field)) throw invalid(`The header has "${cell.trim().slice(0, 64)}" twice: remove one of the two columns.`)
    if (unit !== undefined) gramsPerUnit = gramsPer[unit] ?? 1
    if (part === 'name') attributes.push(Number(nth))
    indexes.set(field, index)
    labels.set(field, cell.trim())
  }
  return { count: header.length, indexes, labels, gramsPerUnit, attributes }
}

/** The columns of Shopify's that those of a file fill, and what they are called there. */
export function filled({ indexes, labels, attributes }: WooColumns): { indexes: Map<Field, number>; labels: Map<Field, string> } {
  const sources: readonly (readonly [Field, readonly WooField[]])[] = [
    ['title', ['name']],
    ['descriptionHtml', ['description', 'shortDescription']],
    ['vendor', ['brands']],
    ['type', ['categories']],
    ['tags', ['tags', 'categories']],
    ['published', ['published']],
    ['sku', ['sku']],
    ['barcode', ['barcode']],
    ['price', ['regularPrice', 'salePrice']],
    ['compareAtPrice', ['salePrice']],
    ['weightGrams', ['weight']],
    ['requiresShipping', ['type']],
    ['taxable', ['taxStatus', 'taxClass']],
    ['taxClass', ['taxClass']],
    ['inventoryTracker', ['stock', 'inStock']],
    ['onHand', ['stock', 'inStock']],
    ['allowBackorder', ['backorders']],
    ['lowStockAt', ['lowStock']],
    ['imageUrl', ['images']],
    ['variantImage', ['images']],
    ['option1Name', attributes[0] === undefined ? ['type'] : [`attribute${attributes[0]}Name`]],
    ['option1Value', attributes[0] === undefined ? ['type'] : [`attribute${attributes[0]}Values`]],
    ['option2Name', attributes[1] === undefined ? [] : [`attribute${attributes[1]}Name`]],
    ['option2Value', attributes[1] === undefined ? [] : [`attribute${attributes[1]}Values`]],
    ['option3Name', attributes[2] === undefined ? [] : [`attribute${attributes[2]}Name`]],
    ['option3Value', attributes[2] === undefined ? [] : [`attribute${attributes[2]}Values`]],
  ]
  const filledIndexes = new Map<Field, number>()
  const filledLabels = new Map<Field, string>()
  for (const [field, from] of sources) {
    const there = from.filter((one) => indexes.has(one))
    if (there.length === 0) continue
    filledIndexes.set(field, 0)
    filledLabels.set(field, there.map((one) => labels.get(one)).join(', '))
  }
  return { indexes: filledIndexes, labels: filledLabels }
}
