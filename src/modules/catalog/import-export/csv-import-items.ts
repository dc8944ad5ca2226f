/** What the importer reads out of a Shopify export. */

/*
 * Everywhere below: undefined (or no property) means that the file has no such column, so that the caller keeps what
 * there is; null means that the cell is blank, so that the caller clears it.
 */

export type ImportedVariant = {
  row: number
  optionValues: string[]
  sku?: string | null
  barcode?: string | null
  /** Minor units, as are the two below. */
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
  /** Row of the table in which the product starts; the header is row 1. */
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
  /** Undefined: no image column. A variant's `imageUrl` is among them, unless they are undefined. */
  images: ImportedImage[] | undefined
  /** A Shopify gift card, which is not imported. */
  isGiftCard?: true
  /** Values that were imported differently from the file. */
  notices?: RowNote[]
  /** Set when the file has no option columns, so that `options` and the one variant say nothing about a known product's. */
  optionsAbsent?: true
}

/** What is wrong with a row, or was not taken of it, by the table's row and the product. Never repeats a cell. */
export type RowNote = { row: number; handle?: string; column?: string; message: string }

/** `rows` is the number of records that the item was read from. */
export type CsvItem =
  | { kind: 'product'; product: ImportedProduct; rows: number }
  | { kind: 'rejected'; handle?: string; errors: RowNote[]; rows: number }
