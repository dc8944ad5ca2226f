import type { productDocuments, products, variants } from '../../../../db/schema/catalog.ts'
import { AppError, fieldError, invalidField } from '../../../core/errors.ts'
import { assertPublicationDate } from '../../../core/publication.ts'
import type { Money } from '../../../lib/money.ts'
import { type Optional, pick, withoutUndefined } from '../../../lib/objects.ts'
import { distinctTags, handleOf, searchTermsOf, textOfHtml } from '../../../lib/search-terms.ts'
import { variantsOfKind } from '../product-kind/domain.ts'
import { alignValues, assertOptions, normalOptions } from '../product-options/domain.ts'

/** A product without its sort keys, which the store computes. */
export type Product = Omit<typeof products.$inferSelect, 'titleKey' | 'priceKey'>
export type Variant = typeof variants.$inferSelect
export type ProductDocument = typeof productDocuments.$inferSelect
/** A product with its variants in order. */
export type ProductWithVariants = { product: Product; variants: Variant[] }
/** The fields of a product that matter for a sale, without the long texts. */
type SellableProduct = Pick<Product, SaleField>
type SaleField = 'id' | 'shopId' | 'handle' | 'title' | 'status' | 'kind' | 'currency' | 'images' | 'publishedAt'
/** A variant with its product, of any status. */
export type Sellable = { variant: Variant; product: SellableProduct }
export type Stock = Pick<Variant, 'trackInventory' | 'allowBackorder' | 'onHand' | 'reserved'> & Optional<Pick<Variant, 'hasPrice'>>

export const productStatuses = ['DRAFT', 'ACTIVE', 'ARCHIVED'] as const
export const variantsMax = 250
export const imagesMax = 250
export const productsPerCollectionMax = 5_000
/** Products shown with each collection in the public list of collections. */
export const firstProductsMax = 12
/** Collections per page of that list. */
export const collectionsPerPageMax = 20
const defaultVariantTitle = 'Default Title'
/** Returns the variant title to show beside the product; blank for the only variant. */
export const visibleVariantTitle = (title: string): string => (title === defaultVariantTitle ? '' : title)
const wordsMax = 400
const titleKeyLengthMax = 80

type Image = Product['images'][number]
export type ImageInput = Pick<Image, 'url'> & Optional<Omit<Image, 'url' | 'position'>>
export type VariantInput = Optional<
  Omit<Variant, 'productId' | 'position' | 'reserved' | 'price' | 'hasPrice' | 'compareAtPrice' | 'cost'> & {
    /** Undefined keeps an existing variant's price. A new variant without a price cannot be sold. */
    price: Money
    compareAtPrice: Money | null
    cost: Money | null
    /** Instead of `imageId`: selects the product's image with this URL. */
    imageUrl: string | null
  }
>
/**
 * Fields of a create or a change. Undefined keeps the value, or takes the default. `publishedAt` is in milliseconds.
 */
export type ProductInput = Optional<
  Pick<Product, 'handle' | 'title' | 'descriptionHtml' | 'vendor' | 'type' | 'tags' | 'status' | 'kind' | 'options' | 'publishedAt'> & {
    images: ImageInput[]
    variants: VariantInput[]
    seo: Optional<{ title: string | null; description: string | null }>
  }
>

/** Values that are fixed before a write: enough ids for all new records, the shop's currency, and the time. */
export type ProductWriteContext = {
  productId: string
  variantIds: readonly string[]
  imageIds: readonly string[]
  currency: string
  now: number
}

/** Creates the error for a missing product. It is the same for another shop's, so that it reveals nothing. */
export const noSuchProduct = () => new AppError('NOT_FOUND', 'No such product')

/** @throws AppError NOT_FOUND, also if the product is missing */
export function findVariant(record: ProductWithVariants | undefined, id: string): Variant {
  if (!record) throw noSuchProduct()
  const variant = record.variants.find((one) => one.id === id)
  if (!variant) throw new AppError('NOT_FOUND', 'The product has no such variant')
  return variant
}

/** Builds a new product. @throws AppError INVALID, naming the field */
export function buildProduct(input: ProductInput & { title: string }, shopId: string, context: ProductWriteContext): ProductWithVariants {
  const { productId: id, currency, now } = context
  const blank: Product = {
    id,
    shopId,
    handle: handleOf(input.title) || 'product',
    title: input.title,
    descriptionHtml: '',
    vendor: '',
    type: '',
    tags: [],
    status: 'DRAFT',
    currency,
    options: [],
    images: [],
    seoTitle: null,
    seoDescription: null,
    publishedAt: null,
    ...{ createdAt: now, updatedAt: now, version: 0, kind: 'STANDARD' as const },
    createdAs: input.status ?? 'DRAFT',
  }
  const variantsInput = input.variants?.length ? input.variants : [{}]
  return applyProductChange({ product: blank, variants: [] }, { ...input, variants: variantsInput }, context)
}

/**
 * Applies a change to a product. Variants merge by id; other lists are replaced, and images with a known id keep it.
 * @throws AppError INVALID, naming the field; CONFLICT if fewer units would be left than orders have reserved
 */
export function applyProductChange(before: ProductWithVariants, input: ProductInput, context: ProductWriteContext): ProductWithVariants {
  const status = input.status ?? before.product.status
  const images = input.images ? applyImageChanges(before.product.images, input.images, context.imageIds) : before.product.images
  const options = input.options ? normalOptions(input.options) : before.product.options
  assertOptions(options)
  const product: Product = {
    ...before.product,
    ...withoutUndefined(pick(input, 'handle', 'title', 'descriptionHtml', 'vendor', 'type', 'kind')),
    tags: input.tags ? distinctTags(input.tags) : before.product.tags,
    status,
    options,
    images,
    seoTitle: input.seo?.title === undefined ? before.product.seoTitle : input.seo.title,
    seoDescription: input.seo?.description === undefined ? before.product.seoDescription : input.seo.description,
    publishedAt: resolvePublishedAt(before.product, input.publishedAt, status, context.now),
    updatedAt: context.now,
    version: before.product.version + 1,
  }
  const { currency, merged: unaligned } = input.variants
    ? mergeVariants(before.variants, input.variants, product, context)
    : { currency: product.currency, merged: before.variants.map((variant): MergedVariant => ({ variant })) }
  const merged = unaligned.map((one) => ({
    ...one,
    variant: { ...one.variant, optionValues: alignValues(one.variant.optionValues, options) },
  }))
  assertVariantsFit(merged, options)
  assertStockFits(before.variants, merged)
  // Variants do not refer to removed images.
  const linked = variantsOfKind(product, merged).map(({ variant }) => ({
    ...variant,
    imageId: images.some(({ id }) => id === variant.imageId) ? variant.imageId : null,
  }))
  return { product: { ...product, currency }, variants: numberPositions(linked) }
}

/** Publishes a product now when it first becomes ACTIVE, unless the input has a date. */
function resolvePublishedAt(before: Product, requested: number | null | undefined, status: Product['status'], now: number): number | null {
  assertPublicationDate(requested)
  if (requested !== undefined) return requested
  return status === 'ACTIVE' && before.status !== 'ACTIVE' ? (before.publishedAt ?? now) : before.publishedAt
}

function applyImageChanges(before: Product['images'], input: readonly ImageInput[], newIds: readonly string[]): Product['images'] {
  const existingIds = new Set(before.map(({ id }) => id))
  const used = new Set<string>()
  return input.map(({ id, url, alt, width, height }, at) => {
    if (id !== undefined && !existingIds.has(id)) throw invalidField(`images.${at}.id`, 'must be an image of this product, or left out')
    if (id !== undefined && used.has(id)) throw invalidField(`images.${at}.id`, 'must not be repeated')
    if (id !== undefined) used.add(id)
    return { id: id ?? newIds[at] ?? '', url, alt: alt ?? null, position: at + 1, width: width ?? null, height: height ?? null }
  })
}

/** A variant after a change, with its index in the input; undefined if the input does not name it. */
type MergedVariant = { variant: Variant; at?: number }

/**
 * Variants with an id are changed, those without are added, the others stay. If the input names all existing ones, it
 * sets their order; else new ones come last.
 */
function mergeVariants(
  before: readonly Variant[],
  input: readonly VariantInput[],
  product: Product,
  { currency, variantIds: newIds }: ProductWriteContext,
): { currency: string; merged: MergedVariant[] } {
  if (input.length === 0) throw invalidField('variants', 'must have at least one entry; variants that are not named stay as they are')
  const hasPrices = assertCurrency(input, currency)
  const converts = hasPrices && currency !== product.currency
  // Amounts of another currency must not be kept.
  const existing = new Map(before.map((one) => [one.id, converts ? { ...one, compareAtPrice: null, cost: null } : one]))
  const unnamed = new Set(existing.keys())
  const changed = input.map((one, at): MergedVariant => {
    const old = one.id === undefined ? undefined : existing.get(one.id)
    if (one.id !== undefined && !old) throw invalidField(`variants.${at}.id`, 'must be a variant of this product, or left out')
    if (old && !unnamed.delete(old.id)) throw invalidField(`variants.${at}.id`, 'must not be repeated')
    const price = one.price ?? (old && !converts ? { amount: old.price, currency } : undefined)
    if (!price && before.length > 0)
      throw invalidField(`variants.${at}.price`, old ? 'required, because the currency changed' : 'required for a new variant')
    if (one.imageId && !product.images.some(({ id }) => id === one.imageId))
      throw invalidField(`variants.${at}.imageId`, 'must be an image of this product')
    const imageId = one.imageUrl ? product.images.find(({ url }) => url === one.imageUrl)?.id : one.imageUrl === null ? null : one.imageId
    const optionValues = one.optionValues && alignValues(one.optionValues, product.options)
    return { at, variant: applyVariantChange(old, { ...one, imageId, optionValues }, product.id, newIds[at] ?? '') }
  })
  if (converts && unnamed.size > 0) throw invalidField('variants', 'the currency changed: send a price for each variant')
  const changedById = new Map(changed.map((one, at) => [input[at]?.id, one]))
  const added = changed.filter((_, at) => input[at]?.id === undefined)
  const merged = unnamed.size === 0 ? changed : [...before.map((one) => changedById.get(one.id) ?? { variant: one }), ...added]
  if (merged.length > variantsMax) throw invalidField('variants', `must have at most ${variantsMax} entries`)
  return { currency: hasPrices ? currency : product.currency, merged }
}

/** Returns whether any price is given; each must be in the shop's currency. */
function assertCurrency(input: readonly VariantInput[], currency: string): boolean {
  let found = false
  input.forEach(({ price, compareAtPrice, cost }, at) => {
    for (const [field, money] of Object.entries({ price, compareAtPrice, cost })) {
      if (!money) continue
      found = true
      if (money.currency !== currency) throw invalidField(`variants.${at}.${field}.currency`, "must be the shop's currency")
    }
  })
  return found
}

const blankVariant = {
  sku: null,
  barcode: null,
  weightGrams: 0,
  requiresShipping: true,
  taxable: true,
  taxClass: null,
  allowBackorder: false,
  onHand: 0,
  reserved: 0,
  imageId: null,
  lowStockAt: null,
}

function applyVariantChange(old: Variant | undefined, input: VariantInput, productId: string, newId: string): Variant {
  const optionValues = input.optionValues ?? old?.optionValues ?? []
  const keepsValues = old !== undefined && JSON.stringify(old.optionValues) === JSON.stringify(optionValues)
  return {
    ...blankVariant,
    // A variant with a count is tracked.
    trackInventory: input.onHand !== undefined,
    ...old,
    ...withoutUndefined(pick(input, 'sku', 'barcode', 'weightGrams', 'requiresShipping', 'taxable', 'taxClass')),
    ...withoutUndefined(pick(input, 'trackInventory', 'allowBackorder', 'onHand', 'imageId', 'lowStockAt')),
    id: old?.id ?? newId,
    productId,
    position: 0,
    title: input.title ?? (keepsValues ? old.title : optionValues.length > 0 ? optionValues.join(' / ') : defaultVariantTitle),
    optionValues,
    price: input.price?.amount ?? old?.price ?? 0,
    hasPrice: input.price !== undefined || old?.hasPrice === true,
    compareAtPrice: input.compareAtPrice === undefined ? (old?.compareAtPrice ?? null) : (input.compareAtPrice?.amount ?? null),
    cost: input.cost === undefined ? (old?.cost ?? null) : (input.cost?.amount ?? null),
  }
}

function assertVariantsFit(merged: readonly MergedVariant[], options: Product['options']): void {
  const seen = new Set<string>()
  // Unnamed variants come first, so that a duplicate is reported for the named one.
  for (const { variant, at } of [...merged].sort((a, b) => Number(a.at !== undefined) - Number(b.at !== undefined))) {
    const { optionValues } = variant
    const isIncomplete = optionValues.length !== options.length
    const unknownAt = isIncomplete ? -1 : optionValues.findIndex((value, nth) => !options[nth]?.values.includes(value))
    if (at === undefined && (isIncomplete || unknownAt >= 0))
      throw invalidField('options', 'some variants lack values for these options: send them with new optionValues, or delete them first')
    if (isIncomplete) throw invalidField(`variants.${at}.optionValues`, 'must have one value for each option of the product')
    if (unknownAt >= 0) throw invalidField(`variants.${at}.optionValues.${unknownAt}`, "must be one of the option's values")
    const combination = JSON.stringify(optionValues)
    if (seen.has(combination)) throw invalidField(`variants.${at}.optionValues`, 'must not repeat a combination')
    seen.add(combination)
  }
}

/**
 * Refuses a count that takes units which orders have reserved. Less may be in stock for another reason: the variant
 * stopped taking backorders or became tracked. Then no more is sold.
 * @throws AppError CONFLICT
 */
function assertStockFits(before: readonly Variant[], merged: readonly MergedVariant[]): void {
  const onHandBefore = new Map(before.map(({ id, onHand }) => [id, onHand]))
  for (const { at, variant } of merged) {
    if (at === undefined || variant.allowBackorder || !variant.trackInventory) continue
    const isLess = variant.onHand < (onHandBefore.get(variant.id) ?? variant.onHand)
    if (isLess && variant.reserved > 0 && variant.onHand < variant.reserved)
      throw fieldError('CONFLICT', `variants.${at}`, `cannot be deleted: ${reservedText(variant)}`, { code: 'in_use' })
  }
}

const reservedText = ({ reserved }: Stock) => `unfinished orders reserve ${reserved}`

/**
 * Refuses counts of existing variants: the stock route changes them without losing a sale in between.
 * @throws AppError INVALID
 */
export function assertNoStockCounts(input: ProductInput): void {
  const at = input.variants?.findIndex(({ id, onHand }) => id !== undefined && onHand !== undefined) ?? -1
  if (at >= 0)
    throw invalidField(
      `variants.${at}.onHand`,
      'only for a new variant; change the stock of this one by POST /product-v2/{id}/variants/{variantId}/stock',
    )
}

/**
 * Removes a variant.
 * @throws AppError CONFLICT for the last one, and while orders have reserved some
 */
export function removeVariantFrom({ product, variants }: ProductWithVariants, variant: Variant, now: number): ProductWithVariants {
  if (variants.length === 1) throw new AppError('CONFLICT', 'A product must keep at least one variant. Archive the product instead')
  if (variant.reserved > 0) throw new AppError('CONFLICT', `The variant cannot be deleted: ${reservedText(variant)}`, { code: 'in_use' })
  const rest = variants.filter(({ id }) => id !== variant.id)
  return { product: { ...product, updatedAt: now, version: product.version + 1 }, variants: numberPositions(rest) }
}

const numberPositions = (variants: readonly Variant[]): Variant[] => variants.map((variant, at) => ({ ...variant, position: at + 1 }))

export const onHandMin = -1_000_000
export const onHandMax = 1_000_000_000

/**
 * Returns a variant's stock after a manual change. An increase is always accepted.
 * @throws AppError CONFLICT if a decrease leaves a negative count or fewer than `reserved`, unless the variant takes
 *   backorders; or if the count leaves the bounds
 */
export function applyStockChange<One extends Stock>(variant: One, delta: number): One {
  const { trackInventory, allowBackorder, reserved } = variant
  const onHand = variant.onHand + delta
  if (onHand > onHandMax || onHand < onHandMin) throw new AppError('CONFLICT', `The stock must be between ${onHandMin} and ${onHandMax}`)
  if (allowBackorder || delta >= 0) return { ...variant, onHand }
  if (onHand < 0) throw new AppError('CONFLICT', 'The stock cannot fall below zero, because the variant does not allow backorders')
  if (trackInventory && onHand < reserved)
    throw new AppError('CONFLICT', `The stock cannot fall below the reserved units: ${reservedText(variant)}`)
  return { ...variant, onHand }
}

/**
 * Returns how many units of a variant can be bought: 0 without a price, no limit if its stock is not tracked or it
 * takes backorders, else the units that are not reserved.
 */
export function availableCount({ hasPrice, trackInventory, allowBackorder, onHand, reserved }: Stock): number {
  if (hasPrice === false) return 0
  return !trackInventory || allowBackorder ? Number.POSITIVE_INFINITY : Math.max(0, onHand - reserved)
}

/** Returns whether at least one unit can be bought. */
export const isAvailable = (stock: Stock): boolean => availableCount(stock) > 0

/** Returns the name of a variant including its product's. */
export const labelOf = ({ product, variant }: { product: Pick<Product, 'title'>; variant: Pick<Variant, 'title'> }): string =>
  variant.title === defaultVariantTitle ? product.title : `${product.title} (${variant.title})`

/** Returns the message that too few units are left, with their number. */
export function shortageMessage(sellable: { product: Pick<Product, 'title'>; variant: Pick<Variant, 'title'> & Stock }): string {
  if (sellable.variant.hasPrice === false) return `${labelOf(sellable)} has no price yet`
  const left = availableCount(sellable.variant)
  if (left === 0) return `${labelOf(sellable)} is sold out`
  return left === 1 ? `Only 1 of ${labelOf(sellable)} is left` : `Only ${left} of ${labelOf(sellable)} are left`
}

/** A variant whose stock is at or below its threshold. */
export type LowStock = {
  productId: string
  variantId: string
  title: string
  variantTitle: string
  sku: string | null
  onHand: number
  reserved: number
  lowStockAt: number
}

/**
 * Returns whether a tracked variant is at or below its threshold. Reserved units count as on hand, because orders may
 * fail.
 */
export const isLowStock = ({ trackInventory, onHand, lowStockAt }: Pick<Variant, 'trackInventory' | 'onHand' | 'lowStockAt'>): boolean =>
  trackInventory && lowStockAt !== null && onHand <= lowStockAt

export type SortOrder = 'newest' | 'title' | 'price'
/** The sort key and direction of each public sort order. */
export const sorts: Readonly<Record<'newest' | 'title' | 'price' | '-price', { order: SortOrder; descending: boolean }>> = {
  newest: { order: 'newest', descending: true },
  title: { order: 'title', descending: false },
  price: { order: 'price', descending: false },
  '-price': { order: 'price', descending: true },
}
export type Sort = keyof typeof sorts
export const sortNames = ['newest', 'title', 'price', '-price'] as const

/** Returns the prefix of all `newestKey`s of a moment. */
export const newestKeyAt = (ms: number): string => Math.max(0, ms).toString(36).padStart(9, '0')

/** Returns keys whose byte order is the sort order. Each ends in the product's id, so no two are equal. */
export function sortKeys({ product, variants }: ProductWithVariants): Record<`${SortOrder}Key`, string> {
  const id = product.id.slice(product.id.indexOf('_') + 1)
  const title = product.title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().slice(0, titleKeyLengthMax).toWellFormed()
  return {
    newestKey: `${newestKeyAt(product.publishedAt ?? 0)}.${id}`,
    titleKey: `${title}\u0001${id}`,
    priceKey: `${String(Math.min(...variants.map(({ price }) => price))).padStart(15, '0')}.${id}`,
  }
}

/** Returns whether the public sees the product now or will at its publication date. */
export const isListed = ({ status, publishedAt }: Pick<Product, 'status' | 'publishedAt'>): boolean =>
  status === 'ACTIVE' && publishedAt !== null

/** Returns whether shoppers see the product now and may buy it. */
export const isSellable = ({ status, publishedAt }: Pick<Product, 'status' | 'publishedAt'>, now: number): boolean =>
  status === 'ACTIVE' && publishedAt !== null && publishedAt <= now

/** The fields that search words are taken from. */
export type SearchableProduct = {
  product: Pick<Product, 'title' | 'vendor' | 'type' | 'tags' | 'options' | 'descriptionHtml'>
  variants: readonly Pick<ProductWithVariants['variants'][number], 'sku'>[]
}

/** Returns the distinct words that find a product. */
export function searchWords({ product, variants }: SearchableProduct): string[] {
  const skus = variants.map(({ sku }) => sku ?? '')
  return searchTermsOf(
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
