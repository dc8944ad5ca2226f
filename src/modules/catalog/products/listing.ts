import { holdsWords, textOfHtml, wordsOf } from '../../../lib/search-terms.ts'
import type { Whole } from './domain.ts'
/**
 * A counted list: how many documents lie between anchors of a sorted list, so that page 40,000 of a shop is found without
 * walking the 39,999 before it. Writes append changes; a fold adds them to the anchors (see db/schema/catalog.ts).
 */

/** `documents` lie from `key` (inclusive) up to the next bucket's key. The first bucket's key is ''. */
export type Bucket = { key: string; documents: number }
export type Change = { key: string; documents: number }

/** A bucket that grew beyond this is parted in two. */
export const bucketMax = 2_048

/** Whether `a` sorts before `b` or is the same, by the bytes of UTF-8 as the engines sort: JavaScript sorts surrogates too low. */
export function isAtMost(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [one, other] = [rank(a.charCodeAt(at)), rank(b.charCodeAt(at))]
    if (one !== other) return one < other
  }
  return a.length <= b.length
}
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/** The bucket that `key` lies in. `buckets` is sorted and starts with ''. */
export function bucketOf(buckets: readonly Bucket[], key: string): number {
  let low = 0
  let high = buckets.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (isAtMost(buckets[middle]?.key ?? '', key)) low = middle
    else high = middle - 1
  }
  return low
}

/** The buckets after the changes. */
export function withChanges(anchors: readonly Bucket[], changes: readonly Change[]): Bucket[] {
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

export const totalOf = (buckets: readonly Bucket[]): number => buckets.reduce((total, { documents }) => total + documents, 0)

/** Where the document at `position` (from 0) is found: read from `key` on and skip `skip`. */
export function locate(buckets: readonly Bucket[], position: number): { key: string; skip: number } {
  let skip = position
  for (const { key, documents } of buckets) {
    if (skip < documents) return { key, skip }
    skip -= documents
  }
  return { key: buckets.at(-1)?.key ?? '', skip: skip + (buckets.at(-1)?.documents ?? 0) }
}

/** The part of an ascending list that is a page of it, read from either end. */
export function windowOf(
  total: number,
  { offset, limit }: { offset: number; limit: number },
  descending: boolean,
): { start: number; count: number } {
  const count = Math.max(0, Math.min(limit, total - offset))
  return { start: descending ? Math.max(0, total - offset - limit) : offset, count }
}

/** Decimal digits of the difference between two prices; 0 where they are equal. */
export const priceSpanDigits = (minPrice: number, maxPrice: number): number =>
  maxPrice > minPrice ? String(maxPrice - minPrice).length : 0

/** A sum of so many powers of two is exact in a JavaScript number. */
const tagBitsCount = 52n
/**
 * The bits of tags, two for each, by their hash. A product whose bits lack one of a tag's does not carry the tag.
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

/** What a shop's own people ask products for: text of a `q`, and values that must be there as they are. */
export type ManagedFilter = {
  readonly shopId: string
  readonly words: readonly string[] | undefined
  readonly values: readonly ManagedValue[]
}
/** Of which filter, and what it asks for. */
export type ManagedValue = readonly [kind: 'status' | 'vendor' | 'type' | 'tag' | 'sku', value: string]

/** Of title, vendor, type, tags, options, SKUs and barcodes; and of the description, whose words are found whole alone. */
const [managedWordsMax, plainWordsMax] = [150, 250]

/** What a product is found by for its shop's own people, in whatever status it is. */
export function managedWording({ product, variants }: Whole): { words: string[]; plain: string[]; values: ManagedValue[] } {
  const { title, vendor, type, tags, options, status } = product
  const skus = variants.flatMap(({ sku }) => (sku === null ? [] : [sku]))
  const codes = [...skus, ...variants.map(({ barcode }) => barcode ?? '')]
  const texts = [title, vendor, type, ...tags, ...codes, ...options.flatMap(({ values }) => values)]
  return {
    words: wordsOf(texts.join(' '), managedWordsMax),
    plain: wordsOf(textOfHtml(product.descriptionHtml), plainWordsMax),
    values: valuesOf({ status, vendor, type, tag: tags, sku: skus }),
  }
}

/** Whether a product is among what is asked for, as the index that is made of its wording answers it. */
export function isFoundBy(whole: Whole, { words = [], values }: Omit<ManagedFilter, 'shopId'>): boolean {
  const held = managedWording(whole)
  return (
    holdsWords(words, held.words, held.plain) &&
    values.every(([kind, value]) => held.values.some((one) => one[0] === kind && one[1] === value))
  )
}

/** Tags and SKUs count whatever their case. */
export const valuesOf = (asked: Partial<Record<ManagedValue[0], string | readonly string[] | undefined>>): ManagedValue[] =>
  (Object.entries(asked) as [ManagedValue[0], string | readonly string[] | undefined][]).flatMap(([kind, given]) =>
    [given ?? []].flat().map((value): ManagedValue => [kind, kind === 'tag' || kind === 'sku' ? value.toLowerCase() : value]),
  )
