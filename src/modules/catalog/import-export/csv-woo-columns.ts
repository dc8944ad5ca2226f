/** The columns of WooCommerce's product CSV. */

import { invalid } from './csv-batches.ts'
import type { Field } from './csv-columns.ts'
import { attributeColumnOf, type WooName, weightUnitOf, wooNameOf } from './csv-woo-names.ts'

export type WooField = WooName | 'weight' | `attribute${number}Name` | `attribute${number}Values`

export type WooColumns = {
  readonly count: number
  readonly indexes: ReadonlyMap<WooField, number>
  /** What the columns are called in the file. */
  readonly labels: ReadonlyMap<WooField, string>
  /** Grams in the unit that weights have in this file. */
  readonly gramsPerUnit: number
  /** Numbers of the attributes that it has columns for. */
  readonly attributes: readonly number[]
  /** Names of columns that are not imported. */
  readonly unused: readonly string[]
}

/** An avoirdupois pound is 0.45359237 kg exactly, and an ounce a sixteenth of it. */
const gramsPer: Readonly<Record<string, number>> = { kg: 1_000, g: 1, lbs: 453.59237, lb: 453.59237, oz: 28.349523125 }

/** Whether a header is WooCommerce's: it says what kind each row is of, and calls titles names. */
export function isWooHeader(header: readonly string[]): boolean {
  const fields = new Set(header.map(wooNameOf))
  const isShopify = header.some((name) => /^(title|handle|url handle)$/i.test(name.trim()))
  return fields.has('name') && fields.has('type') && !isShopify
}

const fieldOf = (name: string): WooField | undefined => {
  const attribute = attributeColumnOf(name)
  if (attribute) return `attribute${attribute.nth}${attribute.part}`
  return weightUnitOf(name) === undefined ? wooNameOf(name) : 'weight'
}

/** Finds the known columns in a header. @throws AppError INVALID where it has one twice */
export function mapWooHeader(header: readonly string[]): WooColumns {
  const indexes = new Map<WooField, number>()
  const labels = new Map<WooField, string>()
  const attributes: number[] = []
  const unused: string[] = []
  let gramsPerUnit = 1
  for (const [index, cell] of header.entries()) {
    const field = fieldOf(cell)
    if (field === undefined) {
      unused.push(cell)
      continue
    }
    if (indexes.has(field)) throw invalid(`The header has "${cell.trim().slice(0, 64)}" twice: remove one of the two columns.`)
    if (field === 'weight') gramsPerUnit = gramsPer[weightUnitOf(cell) ?? ''] ?? 1
    const attribute = attributeColumnOf(cell)
    if (attribute?.part === 'Name') attributes.push(attribute.nth)
    indexes.set(field, index)
    labels.set(field, cell.trim())
  }
  return { count: header.length, indexes, labels, gramsPerUnit, attributes, unused }
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
