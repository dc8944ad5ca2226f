/** The columns of WooCommerce's product CSV. */

import { invalidFile } from './csv-batches.ts'
import type { Field } from './csv-columns.ts'
import { attributeColumnOf, type WooName, weightUnitOf, wooNameOf } from './csv-woo-names.ts'

export type WooField = WooName | 'weight' | `attribute${number}Name` | `attribute${number}Values`

export type WooColumns = {
  readonly count: number
  readonly indexes: ReadonlyMap<WooField, number>
  /** The names of the columns in the file. */
  readonly labels: ReadonlyMap<WooField, string>
  /** Grams per weight unit of this file. */
  readonly gramsPerUnit: number
  /** Numbers of the attributes that have columns. */
  readonly attributes: readonly number[]
  /** Names of columns that are not imported. */
  readonly unused: readonly string[]
}

/** A pound is exactly 453.59237 g, an ounce a sixteenth of it. */
const gramsPer: Readonly<Record<string, number>> = { kg: 1_000, g: 1, lbs: 453.59237, lb: 453.59237, oz: 28.349523125 }

/** Recognises a WooCommerce header: it has `Type` and `Name`, and no Shopify column. */
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

/** Maps a header to fields. @throws AppError INVALID for a repeated column */
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
    if (indexes.has(field)) throw invalidFile(`The header has "${cell.trim().slice(0, 64)}" twice: remove one of the two columns.`)
    if (field === 'weight') gramsPerUnit = gramsPer[weightUnitOf(cell) ?? ''] ?? 1
    const attribute = attributeColumnOf(cell)
    if (attribute?.part === 'Name') attributes.push(attribute.nth)
    indexes.set(field, index)
    labels.set(field, cell.trim())
  }
  return { count: header.length, indexes, labels, gramsPerUnit, attributes, unused }
}

/** Returns the Shopify columns that the file's columns fill, with their names in the file. */
export function shopifyColumnsOf({ indexes, labels, attributes }: WooColumns): { indexes: Map<Field, number>; labels: Map<Field, string> } {
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
    const present = from.filter((one) => indexes.has(one))
    if (present.length === 0) continue
    filledIndexes.set(field, 0)
    filledLabels.set(field, present.map((one) => labels.get(one)).join(', '))
  }
  return { indexes: filledIndexes, labels: filledLabels }
}
