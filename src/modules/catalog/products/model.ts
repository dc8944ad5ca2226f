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
import { productKinds } from '../product-kind/domain.ts'
import { optionsMax } from '../product-options/domain.ts'
import { imagesMax, onHandMax, onHandMin, productStatuses, sortNames, variantsMax } from './domain.ts'
import { summaryImagesMax, summaryTagsMax, summaryVariantsMax } from './summary.ts'

const tag = text(255, { minLength: 1 })
const Handle = text(255, { minLength: 1, ...handleForm, description: 'Unique in the shop, in lower case' })

const Option = t.Object(
  { name: text(255, { minLength: 1 }), values: t.Array(text(255, { minLength: 1 }), { maxItems: 250 }) },
  { title: 'ProductOption' },
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
  { title: 'ProductImage' },
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
  requiresShipping: t.Boolean({
    description: 'Whether the variant is shipped. A cart without such variants needs no address and no shipping method',
  }),
  taxClass: nullable(t.String({ description: 'Null: the standard tax rates apply' })),
  ...fieldsOf(t.Boolean(), 'taxable', 'trackInventory', 'allowBackorder', 'available'),
  imageId: nullable(t.String()),
  position: integer(),
}
const beforeVariants = {
  ...fieldsOf(t.String(), 'id', 'shopId', 'handle', 'title', 'descriptionHtml', 'vendor', 'type'),
  tags: t.Array(t.String()),
  status: oneOf(productStatuses),
  kind: t.Optional(
    oneOf(productKinds, {
      description:
        'GIFT_CARD: each unit that is paid issues a gift card worth the price of its variant. Missing only in public records of products last changed in an earlier version: STANDARD',
    }),
  ),
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
            "Units that can be sold from stock, if the shop's `showQuantity` is on. Null: stock is not tracked. With `allowBackorder`, customers can buy more",
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
    variantsCount: integer({ description: 'Number of all variants' }),
    images: t.Array(Image, { description: `The first ${summaryImagesMax}` }),
    imagesCount: integer({ description: 'Number of all images' }),
    ...summaryEnd,
  },
  { title: 'ProductSummary' },
)
export const ManagedVariant = t.Object(
  {
    ...publicVariant,
    hasPrice: t.Boolean({
      description: 'False if no price was set; `price` is then 0. A variant without a price cannot be bought. 0 is a valid price',
    }),
    cost: nullable(MoneySchema),
    onHand: integer(),
    reserved: integer({ description: 'Units on hand that are reserved for orders that are not complete' }),
    lowStockAt: nullable(
      integer({ description: 'The stock is low when this many units or fewer are on hand. See `GET /product-v2/low-stock`' }),
    ),
  },
  { title: 'Variant' },
)
export const ManagedProduct = t.Object({ ...beforeVariants, variants: t.Array(ManagedVariant), ...afterVariants }, { title: 'Product' })
export const DeletedProduct = t.Object({
  ...ManagedProduct.properties,
  deleted: t.Boolean({ description: 'False: the product was ordered before, so it was archived instead' }),
})
export const PublicProducts = t.Object({
  ...pageOf(ProductSummary).properties,
  totalCapped: t.Optional(t.Literal(true, { description: 'True if there are, or may be, more than `total`' })),
})
export const ManagedProducts = t.Object({
  ...pageOf(ManagedProduct).properties,
  totalCapped: PublicProducts.properties.totalCapped,
})

const VariantInput = t.Object({
  sku: maybe(text(255)),
  barcode: maybe(text(255)),
  title: t.Optional(text(255, { minLength: 1 })),
  optionValues: t.Optional(t.Array(text(255, notBlank), { maxItems: optionsMax })),
  price: MoneySchema,
  compareAtPrice: maybe(MoneySchema),
  cost: maybe(MoneySchema),
  weightGrams: t.Optional(integer({ minimum: 0, maximum: 100_000_000 })),
  requiresShipping: t.Optional(t.Boolean({ description: 'Default: true. Use false for digital goods and others that are not shipped' })),
  taxable: t.Optional(t.Boolean()),
  taxClass: maybe(taxClass('Tax rates of this `class` apply. If there are none, the standard rates apply')),
  lowStockAt: maybe(
    integer({ minimum: 0, maximum: onHandMax, description: '`stock.low` is sent when this many units or fewer are on hand' }),
  ),
  trackInventory: t.Optional(t.Boolean({ description: 'Default: true if you send `onHand`' })),
  allowBackorder: t.Optional(t.Boolean()),
  onHand: t.Optional(
    integer({
      minimum: onHandMin,
      maximum: onHandMax,
      description: 'Only when you create the variant. Change stock later with `POST …/stock`',
    }),
  ),
  imageId: maybe(text(64)),
})
const OptionInput = t.Object({ name: text(255, notBlank), values: t.Array(text(255, notBlank), { maxItems: 250 }) })
const ImageInput = t.Object({
  url: Url,
  alt: maybe(text(512)),
  width: maybe(integer({ minimum: 1, maximum: 100_000 })),
  height: maybe(integer({ minimum: 1, maximum: 100_000 })),
})
const fields = {
  handle: t.Optional(Handle),
  descriptionHtml: t.Optional(text(htmlLengthMax, { description: 'HTML, sanitized with an allowlist of tags' })),
  vendor: t.Optional(text(255)),
  type: t.Optional(text(255)),
  tags: t.Optional(t.Array(tag, { maxItems: 250 })),
  status: t.Optional(oneOf(productStatuses, { description: 'Default: DRAFT' })),
  kind: t.Optional(
    oneOf(productKinds, {
      description:
        'Default: STANDARD. Variants of a GIFT_CARD have prices above 0, and are always `taxable: false` and `requiresShipping: false`, whatever you send',
    }),
  ),
  options: t.Optional(t.Array(OptionInput, { maxItems: optionsMax })),
  seo: t.Optional(t.Object({ title: maybe(text(255)), description: maybe(text(1_000)) })),
  publishedAt: t.Optional(
    nullable(instantOf('If you leave it out, the product is published as soon as its status is ACTIVE. Null: not published')),
  ),
}
const title = text(255, notBlank)
export const CreateProduct = t.Object({
  title,
  ...fields,
  variants: t.Optional(
    t.Array(VariantInput, {
      maxItems: variantsMax,
      description: 'If you send none, the product gets one variant without a price, which cannot be bought',
    }),
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
      description: 'Variants with an id are updated, those without are added, and those that you leave out remain',
    }),
  ),
  images: t.Optional(t.Array(t.Object({ ...existingId, ...ImageInput.properties }), { maxItems: imagesMax })),
})

export const HandleParams = t.Object({ shopName: text(63), handle: text(255) })
export const VariantParams = t.Object({ id: text(64), variantId: text(64) })
export const ChangeStock = t.Object({
  delta: t.Optional(integer({ minimum: -onHandMax, maximum: onHandMax, description: 'Number of units to add, or to remove if negative' })),
  counted: t.Optional(
    integer({ minimum: 0, maximum: onHandMax, description: 'Number of units counted on the shelf, including reserved ones' }),
  ),
  reason: t.Optional(text(255, { description: 'Shown in the stock history' })),
})

export const StockHistory = pageOf(
  t.Object(
    {
      ...fieldsOf(t.String(), 'id', 'variantId'),
      delta: integer(),
      onHand: integer({ description: 'Units on hand after the change' }),
      reason: nullable(t.String()),
      actor: t.String({ description: 'Id of the person or key. `system`: a command' }),
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
  sort: t.Optional(oneOf(sortNames, { description: "Default: newest first or, in a collection, the collection's order" })),
  q: t.Optional(
    text(200, {
      description:
        'Full-text search: returns products that contain every word, newest first. The last word may be incomplete. `total` is exact up to 1,000; above that it is 1,000 with `totalCapped: true`. After an upgrade from a version without prefix search, shops with more than 10,000 products may see fewer results, with `totalCapped: true`, until a background job is done',
    }),
  ),
  collection: t.Optional(text(255, { description: 'Id or handle of a published collection' })),
  tag: t.Optional(text(255, { description: 'Not case-sensitive' })),
  vendor: t.Optional(text(255, { description: 'Case-sensitive' })),
  type: t.Optional(text(255, { description: 'Case-sensitive' })),
  minPrice: minorUnits(
    'Returns products with a variant whose price is between `minPrice` and `maxPrice`. Products are sorted by their lowest price',
  ),
  maxPrice: minorUnits('Inclusive, as `minPrice`'),
  available: t.Optional(oneOf(['true', 'false'], { description: 'Whether at least one variant can be bought' })),
})
export const ListManaged = t.Object({
  ...pageQuery,
  status: t.Optional(oneOf(productStatuses)),
  q: t.Optional(
    text(200, {
      description:
        'Up to ten words. Returns products that contain all of them in the title, vendor, type, tags, options, SKUs, barcodes or description. The last word may be incomplete, except in descriptions',
    }),
  ),
  vendor: t.Optional(text(255, { description: 'Case-sensitive' })),
  type: t.Optional(text(255, { description: 'Case-sensitive' })),
  tag: t.Optional(text(255, { description: 'Not case-sensitive' })),
  sku: t.Optional(text(255, { description: 'The whole SKU of a variant. Not case-sensitive' })),
  sort: t.Optional(
    oneOf(sortNames, {
      description:
        'Default: newest first. By `price`: by the lowest price of the variants. If a filter other than `status` alone matches more than 1,000 products, the newest 1,000 are sorted. Does not apply to CSV, which has the oldest product first',
    }),
  ),
})

export const ImportQuery = t.Object({
  dryRun: t.Optional(oneOf(['true', 'false'], { description: 'Checks the file and stores nothing' })),
  overwrite: t.Optional(oneOf(['true', 'false'], { description: 'Updates products whose handle exists. Otherwise they are skipped' })),
  stock: t.Optional(
    oneOf(['true', 'false'], {
      description: 'With `overwrite`: also sets the stock and tracking of existing variants. Otherwise they keep theirs',
    }),
  ),
  currency: t.Optional(
    t.String({ ...CurrencyCode, description: "Currency of the prices in the file. Default: the shop's, which is the only one accepted" }),
  ),
})
const ImportNote = t.Object({
  row: integer({
    description: 'Row in the file, counted as in a spreadsheet: the header is row 1. For an error of a whole product, its first row',
  }),
  handle: t.Optional(t.String({ description: 'Handle of the product' })),
  column: t.Optional(t.String()),
  message: t.String(),
})
export const ImportReport = t.Object(
  {
    dryRun: t.Boolean(),
    rows: integer({ description: 'Number of data rows that were read' }),
    products: integer({ description: 'Number of products in the file' }),
    created: integer(),
    updated: integer(),
    skipped: integer({ description: 'Number of existing products that were skipped' }),
    failed: integer({ description: 'Number of products that were not stored. See `errors`' }),
    variants: integer({ description: 'Number of variants of created and updated products' }),
    images: integer({ description: 'Number of images of created and updated products' }),
    variantsKept: integer({ description: 'Number of existing variants that are not in the file. They remain' }),
    stock: t.Object({
      set: t.Boolean({ description: 'Value of the parameter `stock`' }),
      counts: integer({ description: 'Number of existing variants whose stock was changed' }),
      tracking: integer({ description: 'Number of existing variants whose tracking was turned on or off' }),
      leftAlone: integer({
        description: 'Number of existing variants whose stock or tracking differs from the file. They change only with `stock`',
      }),
    }),
    errors: t.Array(ImportNote, { description: 'Errors, at most 1,000' }),
    errorsTruncated: t.Boolean(),
    notices: t.Array(ImportNote, { description: 'Columns and values that were ignored or changed, at most 1,000' }),
    noticesTruncated: t.Boolean(),
  },
  { title: 'ImportReport' },
)
