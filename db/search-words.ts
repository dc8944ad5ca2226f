import { type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from './engine.ts'
import { conditionsOf, indexedBy, type ProductFilter } from './product-filter.ts'

export type SearchableProduct = {
  productId: string
  shopId: string
  visibleFrom: number
  words: readonly string[]
  /** In lower case. */
  tags: readonly string[]
}
export type SearchQuery = ProductFilter & {
  /** One at least. The last one may be how a word begins; the others are words as products have them. */
  readonly words: readonly string[]
  /** Ids of all products that meet the filter, where they are few. */
  readonly among?: readonly string[] | undefined
  readonly limit: number
}

/** @property isComplete false if the index is being filled or too many products hold the words */
export type FoundProducts = { readonly ids: string[]; readonly isComplete: boolean }

export interface ProductSearch {
  /** Makes the product findable; it must not be indexed yet. */
  add(tx: Writer, product: SearchableProduct): Promise<void>
  /** Replaces the words of a product that an older program indexed. */
  renew(tx: Writer, product: SearchableProduct): Promise<void>
  /** Forgets the product, if it was indexed. */
  remove(tx: Writer, productId: string): Promise<void>
  /** Ids of the products that hold every word, the last as it begins, newest first. */
  find(read: Reader, query: SearchQuery): Promise<FoundProducts>
}

/** Products that hold the words, of which so many are looked at where only a filter can tell whether they match. */
export const filteredMax = 5_000

/** Whether a search has conditions that its words do not decide. */
export const isFiltered = ({ collectionId, vendor, type, available, minPrice, maxPrice }: SearchQuery): boolean =>
  [collectionId, vendor, type, available, minPrice, maxPrice].some((value) => value !== undefined)

/** The condition that a found product `f` meets the filter. Its words have told of the tag. */
export const filterOfFound = (query: SearchQuery): SQL => sql`exists (select 1 from (
  select visible_from, vendor, type, available, min_price, max_price from product_documents ${indexedBy('product_documents_facts')}
    where product_id = f.product_id) c where ${conditionsOf(query, sql.raw('f.product_id'), ['now', 'tag'])})`

/** A tag is one more word, which no text can hold: that of all words that are asked for, the rarest decides the cost. */
export const tagWord = (tag: string) => `_${Bun.hash.xxHash3(tag).toString(36)}`
/** All that a product is found by. */
export const wordsAndTags = ({ words, tags }: SearchableProduct) => [...words, ...tags.map(tagWord)]
/** What a query asks for: words as they are, and one that may be how a word begins. */
export const wanted = ({ words, tag }: SearchQuery): { whole: string[]; last: string } => ({
  whole: [...words.slice(0, -1), ...(tag === undefined ? [] : [tagWord(tag)])],
  last: words.at(-1) ?? '',
})
