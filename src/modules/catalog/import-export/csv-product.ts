import type { RowNote } from '../../../core/csv-records.ts'
import { htmlLengthMax } from '../../../core/html.ts'
import type { Currency } from '../../../lib/money.ts'
import { withoutUndefined } from '../../../lib/objects.ts'
import { imagesMax, variantsMax } from '../products/domain.ts'
import {
  amountIn,
  type CellParser,
  Fault,
  parseBackorder,
  parseBoolean,
  parseLowStock,
  parsePosition,
  parseQuantity,
  parseStatus,
  parseTags,
  parseTaxClass,
  parseUrl,
  parseWeight,
  textUpTo,
} from './csv-cells.ts'
import type { Columns, Field } from './csv-columns.ts'
import type { CsvItem, ImportedImage, ImportedProduct, ImportedVariant } from './csv-import-items.ts'

/** One record of a product. `cells` has only known columns and no blank cells. */
export type Row = {
  /** The row number in the table. The header is row 1. */
  readonly number: number
  readonly cells: ReadonlyMap<Field, string>
  readonly isHandleDerived: boolean
  /** For fields that were read from another row: that row's number. */
  readonly numbers?: ReadonlyMap<Field, number>
}

export type ProductRows = {
  /** A fault if the handle is unusable. `field` is the column that it was read from. */
  readonly handle: { readonly value: string | Fault; readonly field: Field }
  readonly rows: readonly Row[]
}

/** Each row is a variant, an image or both, so a product with more rows exceeds one of the limits. */
export const rowsMax = variantsMax + imagesMax
const errorsMax = 20

const textMax = 255
const altMaxLength = 512
const seoDescriptionMaxLength = 1_000

const shortText = textUpTo(textMax)
/** Text that filters compare exactly, in NFC as the API stores it. */
const comparedText: CellParser<string> = (text) => shortText(text.normalize('NFC'))

const optionFields = [
  { name: 'option1Name', value: 'option1Value' },
  { name: 'option2Name', value: 'option2Value' },
  { name: 'option3Name', value: 'option3Value' },
] as const satisfies readonly { name: Field; value: Field }[]
type OptionFields = (typeof optionFields)[number]

type NamedOption = { readonly fields: OptionFields; readonly name: string }

/** Builds a product from the rows of one handle, in file order, or returns its errors. */
export function buildProduct(group: ProductRows, columns: Columns, currency: Currency): CsvItem {
  return new ProductBuilder(columns, currency).build(group)
}

/** Rejects a product with its first errors in row order. */
export function rejectProduct(errors: readonly RowNote[], rows: number, handle?: string): CsvItem {
  const listed = [...errors]
    .sort((a, b) => a.row - b.row)
    .slice(0, errorsMax)
    .map(({ row, ...note }) => ({ row, ...withoutUndefined({ handle }), ...note }))
  return { kind: 'rejected', errors: listed, rows, ...withoutUndefined({ handle }) }
}

class ProductBuilder {
  private readonly errors: RowNote[] = []
  private readonly notices: RowNote[] = []
  private readonly amount: CellParser<number>

  constructor(
    private readonly columns: Columns,
    currency: Currency,
  ) {
    this.amount = amountIn(currency)
  }

  build({ handle, rows }: ProductRows): CsvItem {
    const [first] = rows
    if (!first) return rejectProduct([], 0)
    if (handle.value instanceof Fault) this.report(first, handle.field, handle.value.message)
    const valid = handle.value instanceof Fault ? undefined : handle.value
    this.checkTitles(rows)
    const product = this.product(first, valid ?? '', rows)
    if (this.errors.length > 0) return rejectProduct(this.errors, rows.length, valid)
    const notices = this.notices.map((one) => ({ ...one, handle: product.handle }))
    return { kind: 'product', product: notices.length > 0 ? { ...product, notices } : product, rows: rows.length }
  }

  private product(first: Row, handle: string, rows: readonly Row[]): ImportedProduct {
    const variantRows = rows.filter((row) => row === first || isVariant(row))
    const namedOptions = this.optionNames(first, variantRows)
    const variants = variantRows.map((row) => this.variant(row, this.optionValues(row, namedOptions, variantRows)))
    this.checkVariants(variants)
    this.noteOtherRows(rows, variantRows)
    return {
      row: first.number,
      handle,
      ...this.details(first),
      ...this.giftCard(rows),
      options: namedOptions.map(({ name }, index) => ({
        name,
        values: [...new Set(variants.flatMap(({ optionValues }) => optionValues[index] ?? []))],
      })),
      variants,
      images: this.images(rows, variants),
      ...(this.columns.indexes.has('option1Name') || this.columns.indexes.has('option1Value') ? {} : { optionsAbsent: true as const }),
    }
  }

  /** Notes rows that look like a variant but only add an image, or nothing. */
  private noteOtherRows(rows: readonly Row[], variantRows: readonly Row[]): void {
    for (const row of rows) {
      const field = (['sku', 'barcode'] as const).find((one) => row.cells.has(one))
      if (field === undefined || variantRows.includes(row)) continue
      const message = 'No variant is imported for this row, because it has neither an option value nor a price.'
      this.notices.push({ row: row.number, ...this.columnOf(field), message })
    }
  }

  /** Reads the product's fields from its first row. Later rows may repeat them or be blank, as in Shopify. */
  private details(first: Row) {
    return withoutUndefined({
      title: this.read(first, 'title', shortText),
      // Not trimmed, because white space may be part of the text between tags.
      descriptionHtml: this.read(first, 'descriptionHtml', textUpTo(htmlLengthMax)),
      vendor: this.read(first, 'vendor', comparedText),
      type: this.read(first, 'type', comparedText),
      tags: this.read(first, 'tags', parseTags),
      status: this.status(first),
      published: this.read(first, 'published', parseBoolean),
      seoTitle: this.read(first, 'seoTitle', shortText),
      seoDescription: this.read(first, 'seoDescription', textUpTo(seoDescriptionMaxLength)),
    })
  }

  /** Shopify repeats the value in every row of a product. One row that says so makes it a gift card. */
  private giftCard(rows: readonly Row[]): Pick<ImportedProduct, 'isGiftCard'> {
    if (!this.columns.indexes.has('giftCard')) return {}
    const row = rows.filter((one) => this.read(one, 'giftCard', parseBoolean) === true)[0]
    const message = 'Imported as a gift card: each unit sold issues a card worth the price.'
    if (row) this.notices.push({ row: row.number, ...this.columnOf('giftCard'), message })
    return { isGiftCard: row !== undefined }
  }

  /** Imports Shopify's UNLISTED (visible by link only) as DRAFT, because souk has no such status. */
  private status(first: Row): ImportedProduct['status'] {
    if (first.cells.get('status')?.trim().toLowerCase() !== 'unlisted') return this.read(first, 'status', parseStatus)
    this.notices.push({ row: first.number, ...this.columnOf('status'), message: 'Unlisted products are imported as drafts.' })
    return 'DRAFT'
  }

  private variant(row: Row, optionValues: string[]): ImportedVariant {
    return {
      row: row.number,
      optionValues,
      ...withoutUndefined({
        sku: this.read(row, 'sku', comparedText),
        barcode: this.read(row, 'barcode', comparedText),
        price: this.read(row, 'price', this.amount),
        compareAtPrice: this.read(row, 'compareAtPrice', this.amount),
        cost: this.read(row, 'cost', this.amount),
        weightGrams: this.read(row, 'weightGrams', parseWeight),
        requiresShipping: this.read(row, 'requiresShipping', parseBoolean),
        taxable: this.read(row, 'taxable', parseBoolean),
        taxClass: this.read(row, 'taxClass', parseTaxClass),
        // In both dialects a blank tracker means that stock is not tracked.
        trackInventory: this.columns.indexes.has('inventoryTracker') ? row.cells.has('inventoryTracker') : undefined,
        allowBackorder: this.read(row, 'allowBackorder', parseBackorder),
        onHand: this.read(row, 'onHand', parseQuantity),
        lowStockAt: this.read(row, 'lowStockAt', parseLowStock),
        imageUrl: this.read(row, 'variantImage', parseUrl),
      }),
    }
  }

  /** Returns the options that the first row names; none if the only one is the placeholder `Title`/`Default Title`. */
  private optionNames(first: Row, variantRows: readonly Row[]): NamedOption[] {
    if (hasNoOptions(first, variantRows)) return []
    const namedOptions = optionFields.flatMap((fields) => {
      const name = this.read(first, fields.name, shortText)
      return typeof name === 'string' ? [{ fields, name }] : []
    })
    for (const [index, { fields, name }] of namedOptions.entries())
      if (namedOptions.slice(0, index).some((earlier) => sameText(earlier.name, name)))
        this.report(first, fields.name, 'Must differ from the names of the other options.')
    return namedOptions
  }

  private optionValues(row: Row, namedOptions: readonly NamedOption[], variantRows: readonly Row[]): string[] {
    const first = variantRows[0] ?? row
    if (namedOptions.length === 0 && hasNoOptions(first, variantRows)) return []
    for (const fields of optionFields) {
      const option = namedOptions.find((candidate) => candidate.fields === fields)
      if (!option && row.cells.has(fields.value))
        this.report(row, fields.value, "Has a value, but the product's first row gives this option no name.")
      const name = row.cells.get(fields.name)
      if (option && name !== undefined && !sameText(name, option.name))
        this.report(row, fields.name, "Must be blank or the same as in the product's first row.")
    }
    return namedOptions.map(({ fields }) => {
      const value = this.read(row, fields.value, shortText)
      if (!row.cells.has(fields.value)) this.report(row, fields.value, 'Must have a value: every variant needs one for each option.')
      return value ?? ''
    })
  }

  private checkVariants(variants: readonly ImportedVariant[]): void {
    const tooMany = variants[variantsMax]
    if (tooMany) this.errors.push({ row: tooMany.row, message: `A product can have at most ${variantsMax} variants.` })
    const rowByValues = new Map<string, number>()
    for (const { row, optionValues } of variants) {
      // Incomplete combinations are reported already and cannot be compared.
      if (optionValues.includes('')) continue
      const key = JSON.stringify(optionValues)
      const earlier = rowByValues.get(key)
      if (earlier === undefined) rowByValues.set(key, row)
      else this.errors.push({ row, ...this.columnOf('option1Value'), message: repeatedCombinationMessage(optionValues, earlier) })
    }
  }

  /** Returns undefined without an image column: the product's images then stay, and variants' images are added. */
  private images(rows: readonly Row[], variants: readonly ImportedVariant[]): ImportedImage[] | undefined {
    if (!this.columns.indexes.has('imageUrl')) return undefined
    const byUrl = new Map<string, ImportedImage>()
    for (const row of rows) this.addImage(byUrl, row)
    const sorted = [...byUrl.values()].sort((a, b) => a.position - b.position)
    for (const { imageUrl } of variants) {
      if (typeof imageUrl !== 'string' || byUrl.has(imageUrl)) continue
      const image = { url: imageUrl, position: 0 }
      byUrl.set(imageUrl, image)
      sorted.push(image)
    }
    const [row] = rows
    if (sorted.length > imagesMax && row) this.report(row, 'imageUrl', `A product can have at most ${imagesMax} images.`)
    return sorted.map((image, index) => ({ ...image, position: index + 1 }))
  }

  private addImage(byUrl: Map<string, ImportedImage>, row: Row): void {
    const url = this.read(row, 'imageUrl', parseUrl)
    if (typeof url !== 'string') return
    const alt = this.read(row, 'imageAlt', textUpTo(altMaxLength))
    const position = this.read(row, 'imagePosition', parsePosition)
    const earlier = byUrl.get(url)
    if (!earlier) byUrl.set(url, { url, ...withoutUndefined({ alt }), position: position ?? byUrl.size + 1 })
    else if (alt) earlier.alt ??= alt
  }

  /**
   * Rejects rows without a handle that share a handle but have different titles (`Tee (blue)`, `Tee: blue`). Shopify
   * numbers such products, but a number depends on the row order: importing an edited file would overwrite the wrong
   * product.
   */
  private checkTitles(rows: readonly Row[]): void {
    const titleRow = rows.find((row) => row.cells.has('title'))
    const title = titleRow?.cells.get('title')
    if (!titleRow || title === undefined) return
    for (const row of rows) {
      if (!row.isHandleDerived && !titleRow.isHandleDerived) continue
      const rowTitle = row.cells.get('title')
      if (rowTitle !== undefined && !sameText(rowTitle, title))
        this.report(
          row,
          'title',
          `Has the same handle as the product in row ${titleRow.number}, which has another title. Give each product its own handle.`,
        )
    }
  }

  /** Returns undefined without the column, and null for a blank or refused cell. */
  private read<T>(row: Row, field: Field, parse: CellParser<T>): T | null | undefined {
    if (!this.columns.indexes.has(field)) return undefined
    const text = row.cells.get(field)
    if (text === undefined) return null
    const value = parse(field === 'descriptionHtml' ? text : text.trim())
    if (!(value instanceof Fault)) return value
    this.report(row, field, value.message)
    return null
  }

  private report(row: Row, field: Field, message: string): void {
    this.errors.push({ row: row.numbers?.get(field) ?? row.number, ...this.columnOf(field), message })
  }

  private columnOf(field: Field): { column?: string } {
    return withoutUndefined({ column: this.columns.labels.get(field) })
  }
}

const isVariant = ({ cells }: Row) => cells.has('price') || optionFields.some(({ value }) => cells.has(value))

const sameText = (a: string, b: string) => normalText(a) === normalText(b)

const normalText = (text: string) => text.trim().replace(/\s+/g, ' ').toLowerCase()

function hasNoOptions(first: Row, variantRows: readonly Row[]): boolean {
  const isPlaceholder = (row: Row, field: Field, placeholder: string) => sameText(row.cells.get(field) ?? placeholder, placeholder)
  const hasOthers = optionFields
    .slice(1)
    .some(({ name, value }) => first.cells.has(name) || variantRows.some((row) => row.cells.has(value)))
  return (
    !hasOthers &&
    isPlaceholder(first, 'option1Name', 'title') &&
    variantRows.every((row) => isPlaceholder(row, 'option1Value', 'default title'))
  )
}

const repeatedCombinationMessage = (optionValues: readonly string[], earlier: number) =>
  optionValues.length > 0
    ? `Has the same option values as row ${earlier}: each variant needs its own.`
    : `A product without options has one variant, which is in row ${earlier}: give the rows option values, or remove this one.`
