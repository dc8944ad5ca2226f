/** Products as the Universal Commerce Protocol shows them. Each text of the shop enters once, as plain text. */
import { plainText, plainTextOfHtml } from '../../../lib/plain-text.ts'
import { bytesOf } from '../../../lib/shorten-texts.ts'
import { variantsMax } from '../../catalog/products/domain.ts'
import type { PublicProduct } from '../../catalog/products/index.ts'

export type PublicVariant = PublicProduct['variants'][number]

export type FilterInput = { categories?: string[]; price?: { min?: number; max?: number } }
export type SearchInput = { query?: string; filters?: FilterInput; pagination?: { cursor?: string; limit?: number } }
export type LookupInput = { ids: string[]; filters?: FilterInput }
export type ProductInput = { id: string; selected?: Selected[]; preferences?: string[] }
type Selected = { name: string; label: string }

/** Maximum number of products on a page. A larger `limit` is lowered. */
export const pageMax = 50
const titleMax = 300
const tagsMax = 50
const imagesMax = 20
/** Maximum characters of a description in a list, and of a single product. */
export const descriptionMax = { list: 1_000, detail: 10_000 } as const
/**
 * Maximum bytes of the products of one answer. MCP sends an answer twice, once as a quoted text of at most twice the
 * bytes, and the result stays within the 1 MB of a public response.
 */
const productsBytesMax = 320_000

/** @param inputs the ids of the request that found the variant; undefined in a search */
export function variantView({ options, images }: PublicProduct, variant: PublicVariant, inputs?: readonly LookupMatch[]) {
  const image = images.find(({ id }) => id === variant.imageId)
  const { compareAtPrice, price } = variant
  return {
    id: variant.id,
    ...(variant.sku === null ? {} : { sku: plainText(variant.sku, titleMax) }),
    title: plainText(variant.title, titleMax),
    // The product has the description.
    description: { plain: '' },
    price,
    ...(compareAtPrice !== null && compareAtPrice.amount > price.amount ? { list_price: compareAtPrice } : {}),
    availability: { available: variant.available, status: variant.available ? 'in_stock' : 'out_of_stock' },
    options: options.flatMap(({ name }, at) => {
      const label = variant.optionValues[at]
      return label === undefined ? [] : [{ name: plainText(name, titleMax), label: plainText(label, titleMax) }]
    }),
    ...(image ? { media: [imageView(image)] } : {}),
    ...(inputs ? { inputs: [...inputs] } : {}),
  }
}

const imageView = ({ url, alt }: PublicProduct['images'][number]) => ({
  type: 'image',
  url,
  ...(alt === null || alt === '' ? {} : { alt_text: plainText(alt, titleMax) }),
})

/** Renders an option, and nothing for one without values. @param flagsOf further fields of a value */
function optionView({ name, values }: PublicProduct['options'][number], flagsOf: (label: string) => object = () => ({})) {
  const valueViews = values.slice(0, variantsMax).map((label) => ({ label: plainText(label, titleMax), ...flagsOf(label) }))
  return valueViews.length === 0 ? [] : [{ name: plainText(name, titleMax), values: valueViews }]
}

type VariantView = ReturnType<typeof variantView>

/** Renders a product with the given variants. @param length characters of its description at most */
export function productView(product: PublicProduct, variants: readonly VariantView[], length: number) {
  const { id, handle, title, descriptionHtml, priceRange, images, options, tags } = product
  const listPrices = product.variants.map(({ compareAtPrice, price }) => Math.max(compareAtPrice?.amount ?? 0, price.amount))
  const { currency } = priceRange.min
  const [min, max] = [Math.min(...listPrices), Math.max(...listPrices)]
  return {
    ...{ id, handle, title: plainText(title, titleMax), description: { plain: plainTextOfHtml(descriptionHtml, length) } },
    price_range: priceRange,
    ...(min > priceRange.min.amount || max > priceRange.max.amount
      ? { list_price_range: { min: { amount: min, currency }, max: { amount: max, currency } } }
      : {}),
    ...(images.length > 0 ? { media: images.slice(0, imagesMax).map(imageView) } : {}),
    ...(options.length > 0 ? { options: options.flatMap((option) => optionView(option)) } : {}),
    variants: [...variants],
    ...(tags.length > 0 ? { tags: tags.slice(0, tagsMax).map((tag) => plainText(tag, titleMax)) } : {}),
  }
}

export type ProductView = ReturnType<typeof productView>

/** Limits of the shorter forms of a product, from the mildest to the shortest. Their variants have no media. */
const shorterForms = [
  { media: 3, tags: 20, description: descriptionMax.detail, values: variantsMax, variants: variantsMax },
  { media: 0, tags: 0, description: 200, values: 20, variants: 20 },
  { media: 0, tags: 0, description: 0, values: 1, variants: 1 },
  { media: 0, tags: 0, description: 0, values: 0, variants: 1 },
] as const

const shortened = <View extends ProductView>(view: View, limits: (typeof shorterForms)[number]): View => ({
  ...view,
  description: { plain: plainText(view.description.plain, limits.description) },
  ...(view.media ? { media: view.media.slice(0, limits.media) } : {}),
  ...(view.options
    ? { options: limits.values === 0 ? [] : view.options.map((option) => ({ ...option, values: option.values.slice(0, limits.values) })) }
    : {}),
  variants: view.variants
    .slice(0, limits.variants)
    .map(({ media: _, ...variant }) => ({ ...variant, options: limits.values === 0 ? [] : variant.options })),
  ...(view.tags ? { tags: view.tags.slice(0, limits.tags) } : {}),
})

const jsonBytesOf = (value: object): number => bytesOf(JSON.stringify(value))
const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0)

/** Shortens the largest products of an answer so that all fit, and leaves out the last ones if they still do not. */
export function fitProducts<View extends ProductView>(views: readonly View[]): View[] {
  const sizes = views.map(jsonBytesOf)
  if (sumOf(sizes) <= productsBytesMax) return [...views]
  const share = Math.floor(productsBytesMax / views.length)
  const fitting = views.map((view) => {
    let shortView = view
    for (const limits of shorterForms) {
      if (jsonBytesOf(shortView) <= share) break
      shortView = shortened(view, limits)
    }
    return shortView
  })
  while (sumOf(fitting.map(jsonBytesOf)) > productsBytesMax) fitting.pop()
  return fitting
}

/** An id of a request, and whether it names the variant or its product. */
export type LookupMatch = { id: string; match: 'exact' | 'featured' }

/** Returns the variant that stands for its product: the first that can be bought. */
export const featuredVariant = ({ variants }: PublicProduct): PublicVariant | undefined =>
  variants.find(({ available }) => available) ?? variants[0]

const hasSelected = ({ options }: PublicProduct, { optionValues }: PublicVariant, selected: readonly Selected[]): boolean =>
  selected.every(({ name, label }) => optionValues[options.findIndex((option) => option.name === name)] === label)

/**
 * Narrows a product to chosen option values. If no variant has all of them, the least important are dropped.
 * @param preferences names of options, the most important one first
 */
export function selectVariants(
  product: PublicProduct,
  chosen: readonly Selected[],
  preferences: readonly string[],
): { selected: Selected[]; variants: PublicVariant[] } {
  const rankOf = ({ name }: Selected) => (preferences.includes(name) ? preferences.indexOf(name) : preferences.length)
  const isKnown = ({ name, label }: Selected) => product.options.find((option) => option.name === name)?.values.includes(label)
  const ranked = chosen.filter(isKnown).toSorted((one, other) => rankOf(one) - rankOf(other))
  for (let count = ranked.length; ; count--) {
    const selected = ranked.slice(0, count)
    const variants = product.variants.filter((variant) => hasSelected(product, variant, selected))
    if (variants.length > 0 || count === 0) return { selected, variants }
  }
}

/** Renders options; each value says whether a variant has it with the other chosen values, and can be bought. */
export const detailOptions = (product: PublicProduct, selected: readonly Selected[]) =>
  product.options.flatMap((option, at) => {
    const otherChoices = selected.filter(({ name }) => name !== option.name)
    const fitting = product.variants.filter((variant) => hasSelected(product, variant, otherChoices))
    const exists = new Set(fitting.map(({ optionValues }) => optionValues[at]))
    const available = new Set(fitting.filter((variant) => variant.available).map(({ optionValues }) => optionValues[at]))
    return optionView(option, (label) => ({ exists: exists.has(label), available: available.has(label) }))
  })
