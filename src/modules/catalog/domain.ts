import type { productDocuments, products, variants } from '../../../db/schema/catalog.ts'
import { AppError } from '../../core/errors.ts'
import { assertPublicationDate } from '../../core/publication.ts'
import { etagOf } from '../../lib/etag.ts'
import { isCurrency, type Money } from '../../lib/money.ts'
import { defined, isoTimes, type Optional, pick } from '../../lib/records.ts'
import { distinctTags, handleOf, textOfHtml, wordsOf } from '../../lib/words.ts'

export type Product = typeof products.$inferSelect
export type Variant = typeof variants.$inferSelect
export type ProductDocument = typeof productDocuments.$inferSelect
/** A product with its variants in order: what every rule here looks at. */
export type Whole = { product: Product; variants: Variant[] }
/** What of a product counts when it is sold: without the long texts. */
export type SellableProduct = Pick<Product, 'id' | 'shopId' | 'handle' | 'title' | 'status' | 'currency' | 'images' | 'publishedAt'>
/** A variant with its product, whatever their status. */
export type Sellable = { variant: Variant; product: SellableProduct }
export type Stock = Pick<Variant, 'trackInventory' | 'allowBackorder' | 'onHand' | 'reserved'>

export const productStatuses = ['DRAFT', 'ACTIVE', 'ARCHIVED'] as const
export const optionsMax = 3
export const variantsMax = 100
export const imagesMax = 250
export const productsPerCollectionMax = 5_000
/** Of a collection, where collections are listed for the public. */
export const firstProductsMax = 12
export const defaultVariantTitle = 'Default Title'
const wordsMax = 400
const titleKeyLengthMax = 80

type Image = Product['images'][number]
export type ImageInput = Pick<Image, 'url'> & Optional<Omit<Image, 'url' | 'position'>>
export type VariantInput = Optional<
  Omit<Variant, 'productId' | 'position' | 'reserved' | 'price' | 'compareAtPrice' | 'cost'> & {
    /** Of a known variant, left out: as it is. */
    price: Money
    compareAtPrice: Money | null
    cost: Money | null
    /** Instead of `imageId`: the picture is the product's image with this URL. */
    imageUrl: string | null
  }
>
/** What a create or a change says; what is undefined stays as it is, or takes its default. `publishedAt` in milliseconds. */
export type ProductInput = Optional<
  Pick<Product, 'handle' | 'title' | 'descriptionHtml' | 'vendor' | 'type' | 'tags' | 'status' | 'options' | 'publishedAt'> & {
    images: ImageInput[]
    variants: VariantInput[]
    seo: Optional<{ title: string | null; description: string | null }>
  }
>

/** Everything a write needs that must be fixed before it: ids enough for all that is new, and the time. */
export type Given = { productId: string; variantIds: readonly string[]; imageIds: readonly string[]; now: number }

const invalid = (field: string, rule: string) => new AppError('INVALID', `${field} (body): ${rule}`)

/** A product that `input` makes, in a shop that counts in `currency`. Throws AppError INVALID, naming the field. */
export function createdProduct(input: ProductInput & { title: string }, shop: { id: string; currency: string }, given: Given): Whole {
  const { productId: id, now } = given
  const blank: Product = {
    id,
    shopId: shop.id,
    handle: handleOf(input.title) || 'product',
    title: input.title,
    descriptionHtml: '',
    vendor: '',
    type: '',
    tags: [],
    status: 'DRAFT',
    currency: shop.currency,
    options: [],
    images: [],
    seoTitle: null,
    seoDescription: null,
    publishedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  const variantsInput = input.variants?.length ? input.variants : [{ price: { amount: 0, currency: shop.currency } }]
  return changedProduct({ product: blank, variants: [] }, { ...input, variants: variantsInput }, given)
}

/**
 * The product after a change. Lists are replaced whole; variants and images that carry a known id keep it.
 * Throws AppError INVALID, naming the field.
 */
export function changedProduct(before: Whole, input: ProductInput, given: Given): Whole {
  const status = input.status ?? before.product.status
  const images = input.images ? changedImages(before.product.images, input.images, given.imageIds) : before.product.images
  const options = input.options ?? before.product.options
  assertOptions(options)
  const product: Product = {
    ...before.product,
    ...defined(pick(input, 'handle', 'title', 'descriptionHtml', 'vendor', 'type')),
    tags: input.tags ? distinctTags(input.tags) : before.product.tags,
    status,
    options,
    images,
    seoTitle: input.seo?.title === undefined ? before.product.seoTitle : input.seo.title,
    seoDescription: input.seo?.description === undefined ? before.product.seoDescription : input.seo.description,
    publishedAt: publicationOf(before.product, input.publishedAt, status, given.now),
    updatedAt: given.now,
  }
  const changed = input.variants
    ? changedVariants(before.variants, input.variants, product, given.variantIds)
    : { currency: product.currency, variants: before.variants }
  // An image that is gone is nobody's picture any more.
  const kept = changed.variants.map((variant) => ({
    ...variant,
    imageId: images.some(({ id }) => id === variant.imageId) ? variant.imageId : null,
  }))
  assertVariantsFit(kept, options)
  assertCoversReserved(kept)
  return { product: { ...product, currency: changed.currency }, variants: kept }
}

/** A product that becomes ACTIVE and never had a publication date is published now, unless the input says otherwise. */
function publicationOf(before: Product, asked: number | null | undefined, status: Product['status'], now: number): number | null {
  assertPublicationDate(asked)
  if (asked !== undefined) return asked
  return status === 'ACTIVE' && before.status !== 'ACTIVE' ? (before.publishedAt ?? now) : before.publishedAt
}

function changedImages(before: Product['images'], input: readonly ImageInput[], newIds: readonly string[]): Product['images'] {
  const known = new Set(before.map(({ id }) => id))
  const used = new Set<string>()
  return input.map(({ id, url, alt, width, height }, at) => {
    if (id !== undefined && !known.has(id)) throw invalid(`images.${at}.id`, 'no image of this product; leave it out for a new one')
    if (id !== undefined && used.has(id)) throw invalid(`images.${at}.id`, 'stands twice')
    if (id !== undefined) used.add(id)
    return { id: id ?? newIds[at] ?? '', url, alt: alt ?? null, position: at + 1, width: width ?? null, height: height ?? null }
  })
}

function assertOptions(options: Product['options']): void {
  if (options.length > optionsMax) throw invalid('options', `at most ${optionsMax}`)
  const names = options.map(({ name }) => name.toLowerCase())
  if (new Set(names).size < names.length) throw invalid('options', 'each name may stand once')
  options.forEach(({ values }, at) => {
    if (new Set(values).size < values.length) throw invalid(`options.${at}.values`, 'each value may stand once')
  })
}

function changedVariants(
  before: readonly Variant[],
  input: readonly VariantInput[],
  product: Product,
  newIds: readonly string[],
): { currency: string; variants: Variant[] } {
  if (input.length === 0) throw invalid('variants', 'at least one')
  if (input.length > variantsMax) throw invalid('variants', `at most ${variantsMax}`)
  const currency = input[0]?.price?.currency ?? product.currency
  if (!isCurrency(currency)) throw invalid('variants.0.price.currency', 'not an ISO 4217 currency in use')
  // An amount that is kept would mean another sum in another currency.
  const comparable = currency === product.currency ? before : before.map((variant) => ({ ...variant, compareAtPrice: null, cost: null }))
  const known = new Map(comparable.map((variant) => [variant.id, variant]))
  const variants = input.map((one, at) => {
    const old = one.id === undefined ? undefined : known.get(one.id)
    if (one.id !== undefined && !old) throw invalid(`variants.${at}.id`, 'no variant of this product; leave it out for a new one')
    if (one.id !== undefined) known.delete(one.id)
    const price = one.price ?? (old && { amount: old.price, currency: product.currency })
    if (!price) throw invalid(`variants.${at}.price`, 'needed for a new variant')
    for (const [field, money] of Object.entries({ price, compareAtPrice: one.compareAtPrice, cost: one.cost })) {
      if (money && money.currency !== currency)
        throw invalid(`variants.${at}.${field}.currency`, 'all prices of a product are in one currency')
    }
    if (one.imageId && !product.images.some(({ id }) => id === one.imageId))
      throw invalid(`variants.${at}.imageId`, 'no image of this product')
    const imageId = one.imageUrl ? product.images.find(({ url }) => url === one.imageUrl)?.id : one.imageUrl === null ? null : one.imageId
    return changedVariant(old, { ...one, price, imageId }, product.id, newIds[at] ?? '', at + 1)
  })
  return { currency, variants }
}

const blankVariant = {
  sku: null,
  barcode: null,
  weightGrams: 0,
  taxable: true,
  allowBackorder: false,
  onHand: 0,
  reserved: 0,
  imageId: null,
}

function changedVariant(
  old: Variant | undefined,
  input: VariantInput & { price: Money },
  productId: string,
  newId: string,
  position: number,
): Variant {
  const optionValues = input.optionValues ?? old?.optionValues ?? []
  const keepsValues = old !== undefined && JSON.stringify(old.optionValues) === JSON.stringify(optionValues)
  return {
    ...blankVariant,
    // A variant that is given a count is counted.
    trackInventory: input.onHand !== undefined,
    ...old,
    ...defined(pick(input, 'sku', 'barcode', 'weightGrams', 'taxable', 'trackInventory', 'allowBackorder', 'onHand', 'imageId')),
    id: old?.id ?? newId,
    productId,
    position,
    title: input.title ?? (keepsValues ? old.title : optionValues.length > 0 ? optionValues.join(' / ') : defaultVariantTitle),
    optionValues,
    price: input.price.amount,
    compareAtPrice: input.compareAtPrice === undefined ? (old?.compareAtPrice ?? null) : (input.compareAtPrice?.amount ?? null),
    cost: input.cost === undefined ? (old?.cost ?? null) : (input.cost?.amount ?? null),
  }
}

function assertVariantsFit(variants: readonly Variant[], options: Product['options']): void {
  const seen = new Set<string>()
  variants.forEach(({ optionValues, onHand, allowBackorder }, at) => {
    if (optionValues.length !== options.length) throw invalid(`variants.${at}.optionValues`, 'one value for each option of the product')
    optionValues.forEach((value, nth) => {
      if (!options[nth]?.values.includes(value)) throw invalid(`variants.${at}.optionValues.${nth}`, "not among the option's values")
    })
    const combination = JSON.stringify(optionValues)
    if (seen.has(combination)) throw invalid(`variants.${at}.optionValues`, 'each combination may stand once')
    seen.add(combination)
    if (onHand < 0 && !allowBackorder) throw invalid(`variants.${at}.onHand`, 'below zero only where backorder is allowed')
  })
}

/** Those that orders were promised cannot be counted away, nor become too few because counting begins. */
function assertCoversReserved(variants: readonly Variant[]): void {
  variants.forEach(({ trackInventory, allowBackorder, onHand, reserved }, at) => {
    if (trackInventory && !allowBackorder && onHand < reserved)
      throw new AppError('CONFLICT', `variants.${at}.onHand (body): ${reserved} are promised to orders that are not complete`)
  })
}

/** How many of a variant may be bought: as many as anybody wants when it is not counted or may be ordered ahead, else what nobody has reserved. */
export const availableCount = ({ trackInventory, allowBackorder, onHand, reserved }: Stock): number =>
  !trackInventory || allowBackorder ? Number.POSITIVE_INFINITY : Math.max(0, onHand - reserved)

/** Whether a variant can be bought. */
export const isAvailable = (stock: Stock): boolean => availableCount(stock) > 0

/** What a variant is called where its product is not named beside it. */
export const labelOf = ({ product, variant }: { product: Pick<Product, 'title'>; variant: Pick<Variant, 'title'> }): string =>
  variant.title === defaultVariantTitle ? product.title : `${product.title} (${variant.title})`

/** That there is less than somebody wants, and how much. */
export function shortageOf(sellable: { product: Pick<Product, 'title'>; variant: Pick<Variant, 'title'> & Stock }): string {
  const left = availableCount(sellable.variant)
  // Not how many: what is on hand is the shop's own business.
  return left === 0 ? `${labelOf(sellable)} is sold out` : `There are not that many of ${labelOf(sellable)} left`
}

const money = (amount: number, currency: string): Money => ({ amount, currency })
const maybeMoney = (amount: number | null, currency: string): Money | null => (amount === null ? null : money(amount, currency))

/** A product as everybody may see it: neither cost nor the number in stock. */
export function publicView({ product, variants }: Whole) {
  const { currency } = product
  const prices = variants.map(({ price }) => price)
  return {
    ...pick(product, 'id', 'shopId', 'handle', 'title', 'descriptionHtml', 'vendor', 'type', 'tags', 'status', 'options'),
    variants: variants.map((variant) => publicVariantView(variant, currency)),
    images: product.images,
    seo: { title: product.seoTitle, description: product.seoDescription },
    priceRange: { min: money(Math.min(...prices), currency), max: money(Math.max(...prices), currency) },
    available: variants.some(isAvailable),
    ...isoTimes(pick(product, 'publishedAt', 'createdAt', 'updatedAt')),
  }
}

const publicVariantView = (variant: Variant, currency: string) => ({
  ...pick(variant, 'id', 'sku', 'barcode', 'title', 'optionValues'),
  price: money(variant.price, currency),
  compareAtPrice: maybeMoney(variant.compareAtPrice, currency),
  ...pick(variant, 'weightGrams', 'taxable', 'trackInventory', 'allowBackorder'),
  available: isAvailable(variant),
  ...pick(variant, 'imageId', 'position'),
})

/** A product as its shop sees it: the public view, with cost and stock. */
export function managementView(whole: Whole) {
  const view = publicView(whole)
  return {
    ...view,
    variants: whole.variants.map((variant, at) => ({
      ...(view.variants[at] as ReturnType<typeof publicVariantView>),
      cost: maybeMoney(variant.cost, whole.product.currency),
      onHand: variant.onHand,
      reserved: variant.reserved,
    })),
  }
}

export type SortOrder = 'newest' | 'title' | 'price'
/** How a list is sorted: by which key, and from which end. */
export const sorts: Readonly<Record<'newest' | 'title' | 'price' | '-price', { order: SortOrder; descending: boolean }>> = {
  newest: { order: 'newest', descending: true },
  title: { order: 'title', descending: false },
  price: { order: 'price', descending: false },
  '-price': { order: 'price', descending: true },
}
export type Sort = keyof typeof sorts
export const sortWords = ['newest', 'title', 'price', '-price'] as const

/** The start of every `newestKey` of that moment. */
export const newestKeyAt = (ms: number): string => Math.max(0, ms).toString(36).padStart(9, '0')

/** Keys whose order by bytes is the sort order; each ends in the product's id, so that no two are equal. */
export function sortKeys({ product, variants }: Whole): Record<`${SortOrder}Key`, string> {
  const id = product.id.slice(product.id.indexOf('_') + 1)
  const title = product.title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().slice(0, titleKeyLengthMax).toWellFormed()
  return {
    newestKey: `${newestKeyAt(product.publishedAt ?? 0)}.${id}`,
    titleKey: `${title}\u0001${id}`,
    priceKey: `${String(Math.min(...variants.map(({ price }) => price))).padStart(15, '0')}.${id}`,
  }
}

/** Whether the public sees the product now or will at its publication date. */
export const isListed = ({ status, publishedAt }: Pick<Product, 'status' | 'publishedAt'>): boolean =>
  status === 'ACTIVE' && publishedAt !== null

/** Whether shoppers see the product now, and may buy it. */
export const isSellable = ({ status, publishedAt }: Pick<Product, 'status' | 'publishedAt'>, now: number): boolean =>
  status === 'ACTIVE' && publishedAt !== null && publishedAt <= now

/** The public document of a product that is listed. */
export function documentOf(whole: Whole): ProductDocument {
  const document = JSON.stringify(publicView(whole))
  const { id: productId, shopId, publishedAt } = whole.product
  return { productId, shopId, document, etag: etagOf(document), visibleFrom: publishedAt ?? 0, ...sortKeys(whole) }
}

/** The distinct words by which a product is found. */
export function searchWords({ product, variants }: Whole): string[] {
  const skus = variants.map(({ sku }) => sku ?? '')
  return wordsOf(
    [
      product.title,
      product.vendor,
      product.type,
      ...product.tags,
      ...product.options.flatMap(({ values }) => values),
      ...skus,
      textOfHtml(product.descriptionHtml),
    ].join(' '),
    wordsMax,
  )
}
