import { AppError } from '../../../core/errors.ts'

/** The columns that are imported, with their names in Shopify's old and new export. */
const aliases = {
  handle: ['Handle', 'URL handle'],
  title: ['Title'],
  descriptionHtml: ['Body (HTML)', 'Description'],
  vendor: ['Vendor'],
  // Some exports had this name for the merchant's own type, beside a standardised one.
  type: ['Type', 'Custom Product Type'],
  tags: ['Tags'],
  status: ['Status'],
  published: ['Published', 'Published on online store'],
  giftCard: ['Gift Card'],
  seoTitle: ['SEO Title'],
  seoDescription: ['SEO Description'],
  option1Name: ['Option1 Name'],
  option1Value: ['Option1 Value'],
  option2Name: ['Option2 Name'],
  option2Value: ['Option2 Value'],
  option3Name: ['Option3 Name'],
  option3Value: ['Option3 Value'],
  sku: ['Variant SKU', 'SKU'],
  barcode: ['Variant Barcode', 'Barcode'],
  price: ['Variant Price', 'Price'],
  compareAtPrice: ['Variant Compare At Price', 'Compare-at price', 'Compare at price'],
  cost: ['Cost per item'],
  // The unit column only says how the weight is displayed; the number is always grams.
  weightGrams: ['Variant Grams', 'Weight value (grams)'],
  requiresShipping: ['Variant Requires Shipping', 'Requires shipping'],
  taxable: ['Variant Taxable', 'Charge tax'],
  // In souk the name of a tax class, in Shopify a code of a catalogue. An unknown class is taxed by the standard rates.
  taxClass: ['Variant Tax Code', 'Tax code'],
  inventoryTracker: ['Variant Inventory Tracker', 'Inventory tracker'],
  allowBackorder: ['Variant Inventory Policy', 'Continue selling when out of stock'],
  onHand: ['Variant Inventory Qty', 'Inventory quantity'],
  // Only souk has this column.
  lowStockAt: ['Low stock at'],
  variantImage: ['Variant Image', 'Variant image URL'],
  imageUrl: ['Image Src', 'Product image URL'],
  imagePosition: ['Image Position'],
  imageAlt: ['Image Alt Text'],
} as const satisfies Record<string, readonly string[]>

export type Field = keyof typeof aliases

/** Index and name of each column. The names are for messages. */
export type Columns = {
  readonly count: number
  readonly indexes: ReadonlyMap<Field, number>
  readonly labels: ReadonlyMap<Field, string>
  /** Names of columns that are not imported. */
  readonly unused: readonly string[]
}

const columnsMax = 2_000

const normalName = (name: string) => name.trim().replace(/\s+/g, ' ').toLowerCase()

const fieldByName: ReadonlyMap<string, { field: Field; label: string }> = new Map(
  (Object.entries(aliases) as [Field, readonly string[]][]).flatMap(([field, labels]) =>
    labels.map((label) => [normalName(label), { field, label }] as const),
  ),
)

const invalid = (message: string) => new AppError('INVALID', message)

/** Maps a file's header to fields. @throws AppError INVALID if the header is ambiguous */
export function mapHeader(header: readonly string[]): Columns {
  if (header.length > columnsMax) throw invalid(`The header has more than ${columnsMax} columns.`)
  refuseRepeatedNames(header)
  const indexes = new Map<Field, number>()
  const labels = new Map<Field, string>()
  const unused: string[] = []
  for (const [index, name] of header.entries()) {
    const column = fieldByName.get(normalName(name))
    if (!column) {
      unused.push(name)
      continue
    }
    const earlier = labels.get(column.field)
    if (earlier !== undefined)
      throw invalid(`The header has both "${earlier}" and "${column.label}", which mean the same. Remove one of the two columns.`)
    indexes.set(column.field, index)
    labels.set(column.field, column.label)
  }
  if (!indexes.has('handle') && !indexes.has('title'))
    throw invalid('The header has no "Title" or "Handle" column: the first row must name the columns.')
  return { count: header.length, indexes, labels, unused }
}

function refuseRepeatedNames(header: readonly string[]): void {
  const seen = new Map<string, number>()
  for (const [index, name] of header.entries()) {
    const key = normalName(name)
    // Spreadsheets leave unnamed columns at the right edge. They are ignored like unknown ones.
    if (key === '') continue
    const earlier = seen.get(key)
    if (earlier !== undefined)
      throw invalid(`Columns ${earlier + 1} and ${index + 1} of the header have the same name: rename or remove one.`)
    seen.set(key, index)
  }
}
