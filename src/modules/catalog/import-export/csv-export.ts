/** Exports products in Shopify's CSV format, so that `souk import` and other programs can read them. */
import type { Cell } from '../../../lib/csv-line.ts'
import { type CsvTable, decimalCell } from '../../../lib/csv-table.ts'
import type { Money } from '../../../lib/money.ts'

type ExportedVariant = {
  readonly optionValues: readonly string[]
  readonly sku: string | null
  readonly barcode: string | null
  readonly price: Money
  readonly hasPrice: boolean
  readonly compareAtPrice: Money | null
  readonly cost: Money | null
  readonly weightGrams: number
  readonly requiresShipping: boolean
  readonly taxClass: string | null
  readonly taxable: boolean
  readonly trackInventory: boolean
  readonly allowBackorder: boolean
  readonly onHand: number
  readonly lowStockAt: number | null
  readonly imageId: string | null
}
/** The fields of a product that the file contains. */
type ExportedProduct = {
  readonly handle: string
  readonly title: string
  readonly descriptionHtml: string
  readonly vendor: string
  readonly type: string
  readonly tags: readonly string[]
  readonly status: string
  readonly kind?: string
  readonly publishedAt: string | null
  readonly options: readonly { readonly name: string }[]
  readonly variants: readonly ExportedVariant[]
  readonly images: readonly { readonly id: string; readonly url: string; readonly alt: string | null; readonly position: number }[]
  readonly seo: { readonly title: string | null; readonly description: string | null }
}

const booleanCell = (is: boolean): Cell => (is ? 'TRUE' : 'FALSE')
type Image = ExportedProduct['images'][number]
/** One line of the file: the product's fields on the first one, and a variant, an image or both. */
type ExportLine = {
  readonly product: ExportedProduct
  readonly isFirst: boolean
  readonly variant: ExportedVariant | undefined
  readonly image: Image | undefined
  readonly now: number
}

const ofProduct =
  (cell: (product: ExportedProduct) => Cell) =>
  ({ product, isFirst }: ExportLine): Cell =>
    isFirst ? cell(product) : null
const ofVariant =
  (cell: (variant: ExportedVariant, product: ExportedProduct) => Cell) =>
  ({ variant, product }: ExportLine): Cell =>
    variant ? cell(variant, product) : null
const ofImage =
  (cell: (image: Image) => Cell) =>
  ({ image }: ExportLine): Cell =>
    image ? cell(image) : null

const option = (nth: number): Record<string, (line: ExportLine) => Cell> => ({
  [`Option${nth + 1} Name`]: ofProduct(({ options }) => (options.length === 0 && nth === 0 ? 'Title' : (options[nth]?.name ?? null))),
  [`Option${nth + 1} Value`]: ofVariant(({ optionValues }, { options }) =>
    options.length === 0 && nth === 0 ? 'Default Title' : (optionValues[nth] ?? null),
  ),
})

const columns: Record<string, (line: ExportLine) => Cell> = {
  Handle: ({ product }) => product.handle,
  Title: ofProduct(({ title }) => title),
  'Body (HTML)': ofProduct(({ descriptionHtml }) => descriptionHtml.trimStart()),
  Vendor: ofProduct(({ vendor }) => vendor),
  Type: ofProduct(({ type }) => type),
  Tags: ofProduct(({ tags }) => tags.join(', ')),
  Published: ({ product: { publishedAt }, isFirst, now }) =>
    isFirst ? booleanCell(publishedAt !== null && Date.parse(publishedAt) <= now) : null,
  ...option(0),
  ...option(1),
  ...option(2),
  'Variant SKU': ofVariant(({ sku }) => sku),
  'Variant Grams': ofVariant(({ weightGrams }) => weightGrams),
  'Variant Inventory Tracker': ofVariant(({ trackInventory }) => (trackInventory ? 'shopify' : null)),
  'Variant Inventory Qty': ofVariant(({ onHand }) => onHand),
  'Variant Inventory Policy': ofVariant(({ allowBackorder }) => (allowBackorder ? 'continue' : 'deny')),
  'Variant Fulfillment Service': ofVariant(() => 'manual'),
  'Variant Price': ofVariant(({ price, hasPrice }) => (hasPrice ? decimalCell(price) : null)),
  'Variant Compare At Price': ofVariant(({ compareAtPrice }) => decimalCell(compareAtPrice)),
  'Variant Requires Shipping': ofVariant(({ requiresShipping }) => booleanCell(requiresShipping)),
  'Variant Taxable': ofVariant(({ taxable }) => booleanCell(taxable)),
  'Variant Barcode': ofVariant(({ barcode }) => barcode),
  'Image Src': ofImage(({ url }) => url),
  'Image Position': ofImage(({ position }) => position),
  'Image Alt Text': ofImage(({ alt }) => alt),
  'Gift Card': ofProduct(({ kind }) => booleanCell(kind === 'GIFT_CARD')),
  'SEO Title': ofProduct(({ seo }) => seo.title),
  'SEO Description': ofProduct(({ seo }) => seo.description),
  'Variant Image': ofVariant(({ imageId }, { images }) => images.find(({ id }) => id === imageId)?.url ?? null),
  'Variant Weight Unit': ofVariant(() => 'g'),
  'Variant Tax Code': ofVariant(({ taxClass }) => taxClass),
  // Only souk has this column.
  'Low stock at': ofVariant(({ lowStockAt }) => lowStockAt),
  'Cost per item': ofVariant(({ cost }) => decimalCell(cost)),
  Status: ofProduct(({ status }) => status.toLowerCase()),
}
const cells = Object.values(columns)

/**
 * Builds one line per variant, and more if there are more images. A product with a future publication date is exported
 * as not published, because Shopify has no column for the date.
 * @param now milliseconds
 */
export const productTable = (now: () => number): CsvTable<ExportedProduct> => ({
  header: Object.keys(columns),
  linesOf(product) {
    const { variants, images } = product
    const at = now()
    return Array.from({ length: Math.max(variants.length, images.length, 1) }, (_, nth) => {
      const line = { product, isFirst: nth === 0, variant: variants[nth], image: images[nth], now: at }
      return cells.map((cell) => cell(line))
    })
  },
})
