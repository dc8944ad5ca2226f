import { t } from 'elysia'
import { htmlLengthMax } from '../../../core/html.ts'
import {
  CurrencyCode,
  fieldsOf,
  handleForm,
  Instant,
  instantOf,
  integer,
  MoneySchema,
  maybe,
  notBlank,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  taxClass,
  text,
  Url,
} from '../../../http/schema.ts'
import { imagesMax, onHandMax, onHandMin, optionsMax, productStatuses, sortNames, variantsMax } from './domain.ts'
import { summaryImagesMax, summaryTagsMax, summaryVariantsMax } from './summary.ts'

const tag = text(255, { minLength: 1 })
const Handle = text(255, { minLength: 1, ...handleForm, description: 'Unique in the shop; lower case' })

const Option = t.Object(
  { name: text(255, { minLength: 1 }), values: t.Array(text(255, { minLength: 1 }), { maxItems: 250 }) },
  { title: 'Option' },
)
const Image = t.Object(
  {
    id: t.String(),
    url: t.String(),
    alt: nullable(t.String()),
    position: integer(),
    width: nullable(integer()),
    height: nullable(integer()),
  },
  { title: 'Image' },
)
const Seo = t.Object({ title: nullable(t.String()), description: nullable(t.String()) }, { title: 'Seo' })
const PriceRange = t.Object({ min: MoneySchema, max: MoneySchema }, { title: 'PriceRange' })

const publicVariant = {
  id: t.String(),
  sku: nullable(t.String()),
  barcode: nullable(t.String()),
  title: t.String(),
  optionValues: t.Array(t.String()),
  price: MoneySchema,
  compareAtPrice: nullable(MoneySchema),
  weightGrams: integer(),
  requiresShipping: t.Boolean({ description: 'Whether it is sent: a cart of nothing such needs no address and no shipping method' }),
  taxClass: nullable(t.String({ description: 'Null: the standard tax rates' })),
  ...fieldsOf(t.Boolean(), 'taxable', 'trackInventory', 'allowBackorder', 'available'),
  imageId: nullable(t.String()),
  position: integer(),
}
const beforeVariants = {
  ...fieldsOf(t.String(), 'id', 'shopId', 'handle', 'title', 'descriptionHtml', 'vendor', 'type'),
  tags: t.Array(t.String()),
  status: oneOf(productStatuses),
  options: t.Array(Option),
}
const afterVariants = {
  images: t.Array(Image),
  seo: Seo,
  priceRange: PriceRange,
  available: t.Boolean(),
  publishedAt: nullable(Instant),
  ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
}
const PublicVariant = t.Object(
  {
    ...publicVariant,
    quantityAvailable: t.Optional(
      nullable(
        integer({
          description:
            "Where the shop's `showQuantity` is on: how many are there and promised to nobody, as of the last commit. Null: not counted. With `allowBackorder` more can be bought",
        }),
      ),
    ),
  },
  { title: 'PublicVariant' },
)
export const PublicProduct = t.Object({ ...beforeVariants, variants: t.Array(PublicVariant), ...afterVariants }, { title: 'PublicProduct' })
const { descriptionHtml: _, ...summaryFields } = beforeVariants
const { images: __, seo: ___, ...summaryEnd } = afterVariants
/** The fields of a product in lists, see summary.ts. */
export const ProductSummary = t.Object(
  {
    ...summaryFields,
    tags: t.Array(t.String(), { description: `The first ${summaryTagsMax}` }),
    variants: t.Array(PublicVariant, { description: `The first ${summaryVariantsMax}` }),
    variantsCount: integer({ description: 'Of all variants of the product' }),
    images: t.Array(Image, { description: `The first ${summaryImagesMax}` }),
    imagesCount: integer({ description: 'Of all images of the product' }),
    ...summaryEnd,
  },
  { title: 'ProductSummary' },
)
export const ManagedVariant = t.Object(
  {
    ...publicVariant,
    hasPrice: t.Boolean({
      description: 'False: no price was given yet, and `price` is 0. The variant cannot be bought until it has one; 0 is a price',
    }),
    cost: nullable(MoneySchema),
    onHand: integer(),
    reserved: integer({ description: 'Of those on hand, promised to orders that are not complete' }),
    lowStockAt: nullable(integer({ description: 'So many on hand, or fewer, are few: see `GET /product-v2/low-stock`' })),
  },
  { title: 'Variant' },
)
export const ManagedProduct = t.Object({ ...beforeVariants, variants: t.Array(ManagedVariant), ...afterVariants }, { title: 'Product' })
export const PublicProducts = t.Object({
  ...pageOf(ProductSummary).properties,
  totalCapped: t.Optional(t.Literal(true, { description: 'There are, or may be, more than `total`' })),
})
export const ManagedProducts = t.Object({
  ...pageOf(ManagedProduct).properties,
  totalCapped: PublicProducts.properties.totalCapped,
})

const VariantInput = t.Object({
  sku: maybe(text(255)),
  barcode: maybe(text(255)),
  title: t.Optional(text(255, { minLength: 1 })),
  optionValues: t.Optional(t.Array(text(255, { minLength: 1 }), { maxItems: optionsMax })),
  price: MoneySchema,
  compareAtPrice: maybe(MoneySchema),
  cost: maybe(MoneySchema),
  weightGrams: t.Optional(integer({ minimum: 0, maximum: 100_000_000 })),
  requiresShipping: t.Optional(t.Boolean({ description: 'Default true; false for what is not sent, such as digital goods' })),
  taxable: t.Optional(t.Boolean()),
  taxClass: maybe(taxClass('Taxed by the rates of this `class`, and where there is none by the standard ones')),
  lowStockAt: maybe(integer({ minimum: 0, maximum: onHandMax, description: 'When so many or fewer are on hand, `stock.low` is told' })),
  trackInventory: t.Optional(t.Boolean({ description: 'Default: whether `onHand` is given' })),
  allowBackorder: t.Optional(t.Boolean()),
  onHand: t.Optional(integer({ minimum: onHandMin, maximum: onHandMax, description: 'At creation only; later by the route of its stock' })),
  imageId: maybe(text(64)),
})
const ImageInput = t.Object({
  url: Url,
  alt: maybe(text(512)),
  width: maybe(integer({ minimum: 1, maximum: 100_000 })),
  height: maybe(integer({ minimum: 1, maximum: 100_000 })),
})
const fields = {
  handle: t.Optional(Handle),
  descriptionHtml: t.Optional(text(htmlLengthMax, { description: 'Sanitised with an allowlist of tags' })),
  vendor: t.Optional(text(255)),
  type: t.Optional(text(255)),
  tags: t.Optional(t.Array(tag, { maxItems: 250 })),
  status: t.Optional(oneOf(productStatuses, { description: 'Default DRAFT' })),
  options: t.Optional(t.Array(Option, { maxItems: optionsMax })),
  seo: t.Optional(t.Object({ title: maybe(text(255)), description: maybe(text(1_000)) })),
  publishedAt: t.Optional(nullable(instantOf('Left out: now, once the product is ACTIVE. Null: not published'))),
}
const title = text(255, notBlank)
export const CreateProduct = t.Object({
  title,
  ...fields,
  variants: t.Optional(
    t.Array(VariantInput, { maxItems: variantsMax, description: 'None: one variant without a price, which cannot be bought' }),
  ),
  images: t.Optional(t.Array(ImageInput, { maxItems: imagesMax })),
})
const existingId = { id: t.Optional(text(64)) }
export const ChangeProduct = t.Object({
  title: t.Optional(title),
  ...fields,
  variants: t.Optional(
    t.Array(t.Object({ ...existingId, ...VariantInput.properties, price: t.Optional(MoneySchema) }), {
      maxItems: variantsMax,
      description: 'Those with an id are changed, those without are added; those that are not named stay',
    }),
  ),
  images: t.Optional(t.Array(t.Object({ ...existingId, ...ImageInput.properties }), { maxItems: imagesMax })),
})

export const HandleParams = t.Object({ shopName: text(63), handle: text(255) })
export const VariantParams = t.Object({ id: text(64), variantId: text(64) })
export const ChangeStock = t.Object({
  delta: t.Optional(integer({ minimum: -onHandMax, maximum: onHandMax, description: 'So many more or, below zero, fewer' })),
  counted: t.Optional(
    integer({ minimum: 0, maximum: onHandMax, description: 'How many were counted on the shelf, the promised ones too' }),
  ),
  reason: t.Optional(text(255, { description: 'For the stock history' })),
})

export const StockHistory = pageOf(
  t.Object(
    {
      ...fieldsOf(t.String(), 'id', 'variantId'),
      delta: integer(),
      onHand: integer({ description: 'After the change' }),
      reason: nullable(t.String()),
      actor: t.String({ description: 'The id of the person or key; `system`: a command' }),
      at: Instant,
    },
    { title: 'StockChange' },
  ),
)
export const LowStock = pageOf(
  t.Object(
    {
      ...fieldsOf(t.String(), 'productId', 'variantId', 'title', 'variantTitle'),
      sku: nullable(t.String()),
      ...fieldsOf(integer(), 'onHand', 'reserved', 'lowStockAt'),
    },
    { title: 'LowStock' },
  ),
)

const minorUnits = (description: string) =>
  t.Optional(t.String({ pattern: '^\\d{1,15}$', maxLength: 15, rule: 'a whole number of minor units', description, 'x-type': 'integer' }))
export const ListPublic = t.Object({
  ...pageQuery,
  sort: t.Optional(oneOf(sortNames, { description: "Default newest; within a collection, the collection's order" })),
  q: t.Optional(
    text(200, {
      description:
        'Full text: products that hold every word, and of the last one how it begins, newest first; `total` is exact up to 1,000, then 1,000 with `totalCapped: true`. After an upgrade from a version without beginnings, a shop of more than 10,000 products may be told less until a job is through, with `totalCapped: true`',
    }),
  ),
  collection: t.Optional(text(255, { description: 'Id or handle of a published collection' })),
  tag: t.Optional(text(255, { description: 'Whatever its case' })),
  vendor: t.Optional(text(255, { description: 'As the products spell it' })),
  type: t.Optional(text(255, { description: 'As the products spell it' })),
  minPrice: minorUnits(
    'Products with a variant whose price is within `minPrice` and `maxPrice`. Products are sorted by their lowest price',
  ),
  maxPrice: minorUnits('Inclusive, as `minPrice`'),
  available: t.Optional(oneOf(['true', 'false'], { description: 'Whether any variant can be bought' })),
})
export const ListManaged = t.Object({
  ...pageQuery,
  status: t.Optional(oneOf(productStatuses)),
  q: t.Optional(
    text(200, {
      description:
        'Up to ten words that a product must all have, of its title, vendor, type, tags, options, SKUs, barcodes and description. The last may be how a word begins, but for those of descriptions',
    }),
  ),
  vendor: t.Optional(text(255, { description: 'As the products spell it' })),
  type: t.Optional(text(255, { description: 'As the products spell it' })),
  tag: t.Optional(text(255, { description: 'Whatever its case' })),
  sku: t.Optional(text(255, { description: 'Of one of its variants, whole, whatever its case' })),
})

export const ImportQuery = t.Object({
  dryRun: t.Optional(oneOf(['true', 'false'], { description: 'Check the file, store nothing' })),
  overwrite: t.Optional(oneOf(['true', 'false'], { description: 'Change products whose handle is known; otherwise they are skipped' })),
  stock: t.Optional(
    oneOf(['true', 'false'], {
      description: 'With `overwrite`: set counts and tracking of known variants to what the file says; otherwise they stay',
    }),
  ),
  currency: t.Optional(t.String({ ...CurrencyCode, description: "Of the file's prices: the shop's, which is the default" })),
})
const ImportNote = t.Object({
  row: integer({ description: 'Row of the table, as spreadsheets count: the header is row 1. Of a whole product, its first row' }),
  handle: t.Optional(t.String({ description: "The product's handle" })),
  column: t.Optional(t.String()),
  message: t.String(),
})
export const ImportReport = t.Object(
  {
    dryRun: t.Boolean(),
    rows: integer({ description: 'Data rows read' }),
    products: integer({ description: 'Products found in the file' }),
    created: integer(),
    updated: integer(),
    skipped: integer({ description: 'Known handles and gift cards, left alone' }),
    failed: integer({ description: 'Products not stored, see `errors`' }),
    variants: integer({ description: 'Variants of the products created or updated' }),
    images: integer({ description: 'Images of the products created or updated' }),
    variantsKept: integer({ description: 'Variants of known products that the file does not name: they stay' }),
    stock: t.Object({
      set: t.Boolean({ description: 'Whether `stock` was asked for' }),
      counts: integer({ description: 'Known variants whose count was set to another' }),
      tracking: integer({ description: 'Known variants that began or ceased to be counted' }),
      leftAlone: integer({ description: 'Known variants of which the file says another count or tracking: without `stock` they stay' }),
    }),
    errors: t.Array(ImportNote, { description: 'What was wrong, at most 1,000' }),
    errorsTruncated: t.Boolean(),
    notices: t.Array(ImportNote, { description: 'Columns and values that were ignored or changed, at most 1,000' }),
    noticesTruncated: t.Boolean(),
  },
  { title: 'ImportReport' },
)
