/** Bounded forms of public product records: summaries for lists, and records that fit into one public response. */
import { AppError } from '../../../core/errors.ts'
import { etagOf } from '../../../lib/etag.ts'
import { pick } from '../../../lib/objects.ts'
import { bytesOf } from '../../../lib/shorten-texts.ts'
import { type ProductDocument, type ProductWithVariants, sortKeys } from './domain.ts'
import { priceSpanDigits, tagBitsOf } from './listing.ts'
import { type PublicView, publicView } from './view.ts'

export const summaryTagsMax = 20
export const summaryVariantsMax = 10
export const summaryImagesMax = 2
/** Bytes of a stored summary. */
const summaryBytesMax = 48_000
/**
 * Maximum size of a product's public record as it is stored, in bytes. The rest of a public response is for what is
 * added when it is read: picture URLs and quantities.
 */
const recordBytesMax = 1_000_000

/** Returns the fields of a product in lists. */
export function summaryOf({ descriptionHtml: _, seo: __, ...view }: PublicView) {
  const { id, shopId, handle, title, vendor, type, tags, status, kind, options, variants, images, ...rest } = view
  return {
    ...{ id, shopId, handle, title, vendor, type },
    tags: tags.slice(0, summaryTagsMax),
    ...{ status, kind, options },
    variants: variants.slice(0, summaryVariantsMax),
    variantsCount: variants.length,
    images: images.slice(0, summaryImagesMax),
    imagesCount: images.length,
    ...rest,
  }
}
export type Summary = ReturnType<typeof summaryOf>

/** Renders the summary as it is stored. */
const renderSummary = (view: PublicView): string => shortSummary(JSON.stringify(summaryOf(view)), summaryBytesMax)

/** Computes what an older version did not store with a document. */
export function summaryAndTagBitsOf(document: string): { summary: string; tagBits: number } {
  const view = JSON.parse(document) as PublicView
  return { summary: renderSummary(view), tagBits: tagBitsOf(view.tags.map((tag) => tag.toLowerCase())) }
}

const imageBytesMax = 600
/** From the mildest to the shortest form. All keep id, handle, title, prices, availability and counts. */
const shorterForms: readonly ((summary: Summary) => Summary)[] = [
  (summary) => ({
    ...summary,
    tags: summary.tags.slice(0, 5),
    options: summary.options.map(({ name, values }) => ({ name, values: values.slice(0, 10) })),
    variants: summary.variants.slice(0, 3),
    images: summary.images.slice(0, 1),
  }),
  (summary) => ({
    ...summary,
    tags: [],
    options: [],
    variants: [],
    images: summary.images.slice(0, 1).filter((image) => bytesOf(JSON.stringify(image)) <= imageBytesMax),
  }),
  (summary) => ({ ...summary, vendor: '', type: '', tags: [], options: [], variants: [], images: [] }),
]

/** Shortens a summary (JSON) to at most `most` bytes; returns the shortest form if none fits. */
export function shortSummary(json: string, most: number): string {
  let short = json
  for (const form of shorterForms) {
    if (bytesOf(short) <= most) return short
    short = JSON.stringify(form(JSON.parse(json) as Summary))
  }
  return short
}

/** The public record of a product and its summary in lists. */
export type RenderedProduct = { readonly document: ProductDocument; readonly summary: string }

/** Renders the public record of a product for when it is listed. */
export function renderProduct(record: ProductWithVariants): RenderedProduct {
  const view = publicView(record)
  const document = JSON.stringify(view)
  const { id: productId, shopId, publishedAt } = record.product
  const [minPrice, maxPrice] = [view.priceRange.min.amount, view.priceRange.max.amount]
  return {
    document: {
      ...{ productId, shopId, document, etag: etagOf(document), visibleFrom: publishedAt ?? 0, minPrice, maxPrice },
      ...sortKeys(record),
      ...pick(view, 'vendor', 'type', 'available'),
      spread: priceSpanDigits(minPrice, maxPrice),
      tagBits: tagBitsOf(view.tags.map((tag) => tag.toLowerCase())),
    },
    summary: renderSummary(view),
  }
}

/**
 * Refuses a product whose public record is too large for a response.
 * @param before renders its record before the change
 * @throws AppError INVALID
 */
export function assertRecordFits(document: string, before: () => string | undefined): void {
  const bytes = bytesOf(document)
  // A product that was too large before this limit existed may change if it does not grow.
  if (bytes <= recordBytesMax || bytes <= bytesOf(before() ?? '')) return
  throw new AppError(
    'INVALID',
    `The product is too large: its public record would have ${bytes} bytes, and at most ${recordBytesMax} are allowed. Shorten its description, or remove tags, option values, variants or images.`,
  )
}

const cuts: readonly ((view: PublicView) => PublicView)[] = [
  (view) => ({ ...view, images: view.images.slice(0, 50) }),
  (view) => ({ ...view, descriptionHtml: '' }),
  (view) => ({ ...view, tags: view.tags.slice(0, summaryTagsMax), images: view.images.slice(0, 10) }),
  (view) => ({ ...view, options: view.options.map(({ name, values }) => ({ name, values: values.slice(0, 50) })) }),
  (view) => ({ ...view, variants: view.variants.slice(0, 50) }),
]

/** Shortens a document stored before the size limit: fewer images, then no description, and so on. */
export function shortenDocument(document: string): string {
  // A UTF-16 unit has at most three UTF-8 bytes.
  if (document.length * 3 <= recordBytesMax || bytesOf(document) <= recordBytesMax) return document
  let view = JSON.parse(document) as PublicView
  let bounded = document
  for (const cut of cuts) {
    view = cut(view)
    bounded = JSON.stringify(view)
    if (bytesOf(bounded) <= recordBytesMax) break
  }
  return bounded
}
