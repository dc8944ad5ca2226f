import { t } from 'elysia'
import { htmlLengthMax } from '../../core/html.ts'
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
  text,
  Url,
} from '../../http/schema.ts'
import { imagesMax, optionsMax, productStatuses, sortWords, variantsMax } from './domain.ts'

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
export const PublicProduct = t.Object(
  { ...beforeVariants, variants: t.Array(t.Object(publicVariant, { title: 'PublicVariant' })), ...afterVariants },
  { title: 'PublicProduct' },
)
export const ManagedProduct = t.Object(
  {
    ...beforeVariants,
    variants: t.Array(
      t.Object(
        {
          ...publicVariant,
          cost: nullable(MoneySchema),
          onHand: integer(),
          reserved: integer({ description: 'Of those on hand, promised to orders that are not complete' }),
        },
        { title: 'Variant' },
      ),
    ),
    ...afterVariants,
  },
  { title: 'Product' },
)
export const PublicProducts = t.Object({
  ...pageOf(PublicProduct).properties,
  totalCapped: t.Optional(t.Literal(true, { description: 'There are more than `total`' })),
})
export const ManagedProducts = pageOf(ManagedProduct)

const VariantInput = t.Object({
  sku: maybe(text(255)),
  barcode: maybe(text(255)),
  title: t.Optional(text(255, { minLength: 1 })),
  optionValues: t.Optional(t.Array(text(255, { minLength: 1 }), { maxItems: optionsMax })),
  price: MoneySchema,
  compareAtPrice: maybe(MoneySchema),
  cost: maybe(MoneySchema),
  weightGrams: t.Optional(integer({ minimum: 0, maximum: 100_000_000 })),
  taxable: t.Optional(t.Boolean()),
  trackInventory: t.Optional(t.Boolean({ description: 'Default: whether `onHand` is given' })),
  allowBackorder: t.Optional(t.Boolean()),
  onHand: t.Optional(integer({ minimum: -1_000_000, maximum: 1_000_000_000 })),
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
  variants: t.Optional(t.Array(VariantInput, { maxItems: variantsMax, description: 'None: one variant at price 0' })),
  images: t.Optional(t.Array(ImageInput, { maxItems: imagesMax })),
})
const known = { id: t.Optional(text(64)) }
export const ChangeProduct = t.Object({
  title: t.Optional(title),
  ...fields,
  variants: t.Optional(
    t.Array(t.Object({ ...known, ...VariantInput.properties, price: t.Optional(MoneySchema) }), {
      maxItems: variantsMax,
      description: 'Replaces the list; those with an id are changed, those without are added',
    }),
  ),
  images: t.Optional(t.Array(t.Object({ ...known, ...ImageInput.properties }), { maxItems: imagesMax })),
})

export const ListPublic = t.Object({
  ...pageQuery,
  sort: t.Optional(oneOf(sortWords, { description: "Default newest; within a collection, the collection's order" })),
  q: t.Optional(text(200, { description: 'Full text: products that hold every word, newest first; `total` is exact up to 1,000' })),
  collection: t.Optional(text(255, { description: 'Id or handle of a published collection' })),
  tag: t.Optional(text(255)),
})
export const ListManaged = t.Object({ ...pageQuery, status: t.Optional(oneOf(productStatuses)) })

export const ImportQuery = t.Object({
  dryRun: t.Optional(oneOf(['true', 'false'], { description: 'Check the file, store nothing' })),
  overwrite: t.Optional(oneOf(['true', 'false'], { description: 'Change products whose handle is known; otherwise they are skipped' })),
  currency: t.Optional(t.String({ ...CurrencyCode, description: "Of the file's prices; default the shop's" })),
})
export const ImportReport = t.Object(
  {
    dryRun: t.Boolean(),
    rows: integer({ description: 'Data rows read' }),
    products: integer({ description: 'Products found in the file' }),
    created: integer(),
    updated: integer(),
    skipped: integer({ description: 'Known handles, left alone' }),
    failed: integer({ description: 'Products not stored, see `errors`' }),
    variants: integer({ description: 'Variants of the products created or updated' }),
    images: integer({ description: 'Images of the products created or updated' }),
    errors: t.Array(t.Object({ row: integer(), column: t.Optional(t.String()), message: t.String() })),
    errorsTruncated: t.Boolean(),
  },
  { title: 'ImportReport' },
)
