import { pick } from '../../../lib/objects.ts'
import { matchesTerms, searchTermsOf, textOfHtml } from '../../../lib/search-terms.ts'
import { type ProductWithVariants, sortKeys } from './domain.ts'
/**
 * Counted lists: anchors count the documents between keys of a sorted list, so that page 40,000 is found without
 * reading the pages before it. Writes append changes, and a fold adds them to the anchors (see db/schema/catalog.ts).
 */

/** Counts the documents from `key` (inclusive) up to the next bucket's key. The first key is ''. */
export type Bucket = { key: string; documents: number }
type CountChange = { key: string; documents: number }

/** A bucket beyond this size is split. */
export const bucketMax = 2_048

/** Compares by UTF-8 bytes, as the engines sort. JavaScript sorts surrogates too low. */
export function sortsAtOrBefore(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [left, right] = [rank(a.charCodeAt(at)), rank(b.charCodeAt(at))]
    if (left !== right) return left < right
  }
  return a.length <= b.length
}
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/** Returns the index of the bucket that contains `key`. `buckets` is sorted and starts with ''. */
export function bucketOf(buckets: readonly Bucket[], key: string): number {
  let low = 0
  let high = buckets.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (sortsAtOrBefore(buckets[middle]?.key ?? '', key)) low = middle
    else high = middle - 1
  }
  return low
}

/** Applies changes to the buckets. */
export function applyChanges(anchors: readonly Bucket[], changes: readonly CountChange[]): Bucket[] {
  const buckets =
    anchors[0]?.key === ''
      ? anchors.map((anchor) => ({ ...anchor }))
      : [{ key: '', documents: 0 }, ...anchors.map((anchor) => ({ ...anchor }))]
  for (const { key, documents } of changes) {
    const bucket = buckets[bucketOf(buckets, key)]
    if (bucket) bucket.documents += documents
  }
  return buckets
}

/** Returns the number of documents in all buckets. */
export const totalOf = (buckets: readonly Bucket[]): number => buckets.reduce((total, { documents }) => total + documents, 0)

/** Returns where the document at `position` (from 0) is: start at `key` and skip `skip` documents. */
export function locatePosition(buckets: readonly Bucket[], position: number): { key: string; skip: number } {
  let skip = position
  for (const { key, documents } of buckets) {
    if (skip < documents) return { key, skip }
    skip -= documents
  }
  return { key: buckets.at(-1)?.key ?? '', skip: skip + (buckets.at(-1)?.documents ?? 0) }
}

/** Returns the range of an ascending list that makes up a page, read from either end. */
export function pageWindow(
  total: number,
  { offset, limit }: { offset: number; limit: number },
  descending: boolean,
): { start: number; count: number } {
  const count = Math.max(0, Math.min(limit, total - offset))
  return { start: descending ? Math.max(0, total - offset - limit) : offset, count }
}

/** Returns the decimal digits of the difference between two prices; 0 if they are equal. */
export const priceSpanDigits = (minPrice: number, maxPrice: number): number =>
  maxPrice > minPrice ? String(maxPrice - minPrice).length : 0

/** A sum of this many powers of two is exact in a JavaScript number. */
const tagBitsCount = 52n
/**
 * Returns a Bloom filter of tags, two bits per tag. A product that lacks a tag's bit does not have the tag.
 * @param tags in lower case
 */
export function tagBitsOf(tags: readonly string[]): number {
  const bits = new Set<bigint>()
  for (const tag of tags) {
    const hash = Bun.hash.xxHash3(tag)
    bits.add(hash % tagBitsCount).add((hash >> 32n) % tagBitsCount)
  }
  return [...bits].reduce((sum, bit) => sum + 2 ** Number(bit), 0)
}

/** Adds the sort keys of the staff's list to a product. */
export const productRowOf = (record: ProductWithVariants) => ({ ...record.product, ...pick(sortKeys(record), 'titleKey', 'priceKey') })

/** The staff's product filter: words of `q`, and values that must match exactly. */
export type AdminProductFilter = {
  readonly shopId: string
  readonly words: readonly string[] | undefined
  readonly values: readonly FilterValue[]
}
/** The filtered field and its value. */
export type FilterValue = readonly [kind: 'status' | 'vendor' | 'type' | 'tag' | 'sku', value: string]

/** Limits of indexed words: of short fields (matched as prefixes), and of the description (matched whole). */
const [prefixWordsMax, descriptionWordsMax] = [150, 250]

/** Returns the terms that find a product in the staff's search, whatever its status. */
export function adminSearchTerms({ product, variants }: ProductWithVariants): { words: string[]; plain: string[]; values: FilterValue[] } {
  const { title, vendor, type, tags, options, status } = product
  const skus = variants.flatMap(({ sku }) => (sku === null ? [] : [sku]))
  const codes = [...skus, ...variants.map(({ barcode }) => barcode ?? '')]
  const texts = [title, vendor, type, ...tags, ...codes, ...options.flatMap(({ values }) => values)]
  return {
    words: searchTermsOf(texts.join(' '), prefixWordsMax),
    plain: searchTermsOf(textOfHtml(product.descriptionHtml), descriptionWordsMax),
    values: filterValuesOf({ status, vendor, type, tag: tags, sku: skus }),
  }
}

/** Returns whether a product matches a filter, exactly as the index does. */
export function matchesFilter(record: ProductWithVariants, { words = [], values }: Omit<AdminProductFilter, 'shopId'>): boolean {
  const terms = adminSearchTerms(record)
  return (
    matchesTerms(words, terms.words, terms.plain) &&
    values.every(([kind, value]) => terms.values.some((left) => left[0] === kind && left[1] === value))
  )
}

/** Returns the values of a filter in the form in which they are indexed. Tags and SKUs ignore case. */
export const filterValuesOf = (filters: Partial<Record<FilterValue[0], string | readonly string[] | undefined>>): FilterValue[] =>
  (Object.entries(filters) as [FilterValue[0], string | readonly string[] | undefined][]).flatMap(([kind, fieldValues]) =>
    [fieldValues ?? []].flat().map((value): FilterValue => [kind, kind === 'tag' || kind === 'sku' ? value.toLowerCase() : value]),
  )
