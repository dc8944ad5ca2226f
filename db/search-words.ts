import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from './engine.ts'
import { productDocuments } from './schema/catalog.ts'

export type SearchableProduct = {
  productId: string
  shopId: string
  visibleFrom: number
  words: readonly string[]
  /** In lower case. */
  tags: readonly string[]
}
/** What documents are like. Prices are minor units, and those of a product's cheapest variant. */
export type DocumentFilter = {
  vendor?: string | undefined
  type?: string | undefined
  available?: boolean | undefined
  minPrice?: number | undefined
  maxPrice?: number | undefined
}
export type SearchQuery = DocumentFilter & {
  shopId: string
  /** One at least. The last one may be how a word begins; the others are words as products have them. */
  words: readonly string[]
  /** Products that become visible later do not match. Milliseconds. */
  now: number
  /** Only products that carry this tag, in lower case. */
  tag?: string | undefined
  /** Only products of this collection. */
  collectionId?: string | undefined
  limit: number
}

/** @property isWhole false where products may be missing, because the index is still being filled */
export type FoundProducts = { readonly ids: string[]; readonly isWhole: boolean }

export interface ProductSearch {
  /** Makes the product findable; it must not be indexed yet. */
  add(tx: Writer, product: SearchableProduct): Promise<void>
  /** Makes a product findable by how its words begin, that an older program made findable by whole ones alone. */
  renew(tx: Writer, product: SearchableProduct): Promise<void>
  /** Forgets the product, if it was indexed. */
  remove(tx: Writer, productId: string): Promise<void>
  /** Ids of the products that hold every word, the last as it begins, newest first. */
  find(read: Reader, query: SearchQuery): Promise<FoundProducts>
}

/** As keys by price begin. */
const priceDigits = 15
const priceKeyFrom = (amount: number) => String(amount).padStart(priceDigits, '0')

/** The condition that documents are so; undefined where all are. */
export function suchAs({ vendor, type, available, minPrice, maxPrice }: DocumentFilter): SQL | undefined {
  const below = maxPrice === undefined ? undefined : priceKeyFrom(maxPrice + 1)
  return and(
    vendor === undefined ? undefined : eq(productDocuments.vendor, vendor),
    type === undefined ? undefined : eq(productDocuments.type, type),
    available === undefined ? undefined : eq(productDocuments.available, available),
    minPrice === undefined ? undefined : gte(productDocuments.priceKey, priceKeyFrom(minPrice)),
    // With one digit more it is beyond every price.
    below === undefined || below.length > priceDigits ? undefined : lt(productDocuments.priceKey, below),
  )
}

/** The condition of a search that the document of a product is so, or nothing. */
export function onlySuchAs(filter: DocumentFilter, productId: SQL): SQL {
  const condition = suchAs(filter)
  if (!condition) return sql``
  return sql`and exists (select 1 from ${productDocuments} where ${productDocuments.productId} = ${productId} and ${condition})`
}

/** A tag is one more word, which no text can hold: that of all words that are asked for, the rarest decides the cost. */
export const tagWord = (tag: string) => `_${Bun.hash.xxHash3(tag).toString(36)}`
/** All that a product is found by. */
export const wordsAndTags = ({ words, tags }: SearchableProduct) => [...words, ...tags.map(tagWord)]
/** What a query asks for: words as they are, and one that may be how a word begins. */
export const wanted = ({ words, tag }: SearchQuery): { whole: string[]; last: string } => ({
  whole: [...words.slice(0, -1), ...(tag === undefined ? [] : [tagWord(tag)])],
  last: words.at(-1) ?? '',
})
