import { type SQL, sql } from 'drizzle-orm'
import type { Reader, Writer } from './engine.ts'
import { conditionsOf, indexedBy, type ProductFilter } from './product-filter.ts'

/** A product with a public document, and the terms that find it. */
export type SearchableProduct = {
  productId: string
  shopId: string
  visibleFrom: number
  words: readonly string[]
  /** Lower case. */
  tags: readonly string[]
}
/** A search for visible products that have all terms and meet the filter. */
export type SearchQuery = ProductFilter & {
  /** At least one term. The last one also matches as a prefix. */
  readonly words: readonly string[]
  /** Ids of all products that meet the filter, if they are few. */
  readonly among?: readonly string[] | undefined
  readonly limit: number
}

/** @property isComplete false if the index is being filled or too many products hold the words */
export type FoundProducts = { readonly ids: string[]; readonly isComplete: boolean }

/** The public search of products. */
export interface ProductSearch {
  /** Makes the product findable; it must not be indexed yet. */
  add(tx: Writer, product: SearchableProduct): Promise<void>
  /** Replaces the words of a product that an older program indexed. */
  renew(tx: Writer, product: SearchableProduct): Promise<void>
  /** Removes the product from the index, if it is there. */
  remove(tx: Writer, productId: string): Promise<void>
  /** Returns ids of products with all terms, newest first. */
  find(read: Reader, query: SearchQuery): Promise<FoundProducts>
}

/** Limit of products with the terms that are tested against a filter. */
export const filteredMax = 5_000

/** Returns whether a search has conditions besides its terms. */
export const isFiltered = ({ collectionId, vendor, type, available, minPrice, maxPrice }: SearchQuery): boolean =>
  [collectionId, vendor, type, available, minPrice, maxPrice].some((value) => value !== undefined)

/** Builds the condition that a found product `f` meets the filter. The terms cover the tag. */
export const filterOfFound = (query: SearchQuery): SQL => sql`exists (select 1 from (
  select visible_from, vendor, type, available, min_price, max_price from product_documents ${indexedBy('product_documents_facts')}
    where product_id = f.product_id) c where ${conditionsOf(query, sql.raw('f.product_id'), ['now', 'tag'])})`

/** Encodes a tag as a term that text cannot contain. The rarest term decides the cost of a search. */
export const tagTerm = (tag: string) => `_${Bun.hash.xxHash3(tag).toString(36)}`
/** Returns all terms of a product. */
export const productTermsOf = ({ words, tags }: SearchableProduct) => [...words, ...tags.map(tagTerm)]
/** Returns the terms of a query: whole words, and the last one as a prefix. */
export const queryTermsOf = ({ words, tag }: SearchQuery): { whole: string[]; last: string } => ({
  whole: [...words.slice(0, -1), ...(tag === undefined ? [] : [tagTerm(tag)])],
  last: words.at(-1) ?? '',
})
