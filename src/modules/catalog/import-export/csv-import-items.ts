/** The products that the importer reads from a file. */
import type { RowNote } from '../../../core/csv-records.ts'

/**
 * In all types below, undefined means that the file has no such column and the value stays. Null means that the cell is
 * blank and clears the value.
 */

export type ImportedVariant = {
  row: number
  optionValues: string[]
  sku?: string | null
  barcode?: string | null
  /** `price`, `compareAtPrice` and `cost` are in minor units. */
  price?: number | null
  compareAtPrice?: number | null
  cost?: number | null
  weightGrams?: number | null
  requiresShipping?: boolean | null
  taxable?: boolean | null
  taxClass?: string | null
  trackInventory?: boolean | null
  allowBackorder?: boolean | null
  onHand?: number | null
  lowStockAt?: number | null
  imageUrl?: string | null
}

export type ImportedImage = { url: string; alt?: string | null; position: number }

export type ImportedProduct = {
  /** The first row of the product. The header is row 1. */
  row: number
  handle: string
  title?: string | null
  descriptionHtml?: string | null
  vendor?: string | null
  type?: string | null
  tags?: string[] | null
  status?: 'ACTIVE' | 'DRAFT' | 'ARCHIVED' | null
  published?: boolean | null
  seoTitle?: string | null
  seoDescription?: string | null
  options: { name: string; values: string[] }[]
  variants: ImportedVariant[]
  /** Undefined without an image column; else it includes the `imageUrl` of each variant. */
  images: ImportedImage[] | undefined
  /** Undefined without the column. */
  isGiftCard?: boolean
  /** Values that were imported differently from the file. */
  notices?: RowNote[]
  /** The file has no option columns, so `options` and the one variant say nothing about an existing product. */
  optionsAbsent?: true
}

/** `rows` counts the records that the item was read from. */
export type CsvItem =
  | { kind: 'product'; product: ImportedProduct; rows: number }
  | { kind: 'rejected'; handle?: string; errors: RowNote[]; rows: number }
